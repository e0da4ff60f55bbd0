import Foundation

/// A configured service: hands out requests that share a session.
///
/// <!-- given:
/// struct Seatmap: Model {
///     enum Endpoint: Requestable {
///         case refresh
///         func baseURL() throws(AtomError) -> BaseURL { try BaseURL(host: "api.example.com") }
///     }
/// }
/// -->
/// ```swift
/// let atom = Atom()
/// let seatmap = try await atom.enqueue(Seatmap.Endpoint.refresh).resume(expecting: Seatmap.self)
/// ```
///
/// Copies share everything. Letting go of the last one cancels nothing.
public struct Atom: Sendable {
    /// Posted once per refresh that failed, after those who waited for it have
    /// been told.
    ///
    /// On the configuration's queue; the object is `nil` and
    /// `userInfo["error"]` an ``AtomError``.
    public static let didFailToRefreshAccessToken = AtomNotification.didFailToRefreshAccessToken

    /// Posted once per request whose final answer is 401, after its caller has
    /// been told.
    ///
    /// On the configuration's queue; the object is `nil` and
    /// `userInfo["error"]` an ``AtomError``.
    public static let didFailToAuthorizeRequest = AtomNotification.didFailToAuthorizeRequest

    let manager: RequestableQueueManager

    /// Makes a service.
    ///
    /// No connection is made before the first request.
    public init(serviceConfiguration: ServiceConfiguration = ServiceConfiguration()) {
        self.init(serviceConfiguration, time: SystemTimeSource())
    }

    init(_ configuration: ServiceConfiguration, time: any TimeSource) {
        manager = RequestableQueueManager(configuration, time: time)
    }

    /// Binds an endpoint to this service; nothing is read or sent until the
    /// result is resumed.
    public func enqueue(_ requestable: any Requestable) -> Service {
        Service(requestable, manager: manager)
    }
}

extension Atom: CustomReflectable {
    /// Keeps `dump` from showing credentials.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
