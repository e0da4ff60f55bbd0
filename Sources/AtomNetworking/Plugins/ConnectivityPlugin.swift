import Foundation

/// Refuses requests at once while the device is offline, instead of letting them wait for their timeout.
///
/// A request fails with `URLError.notConnectedToInternet` and ``AtomError/Delivery/notSent``, but only if the device has
/// been offline for longer than the settling interval: a change of the network takes a moment. Where nobody knows, as on
/// Linux and watchOS, and until the system has told, every request is sent.
///
/// A GET or HEAD that uses the cache is always passed on, since that may have a response to it.
///
/// <!-- given the airline -->
/// ```swift
/// configuration.plugins = [ConnectivityPlugin()]
/// ```
public struct ConnectivityPlugin: AtomPlugin {
    private let monitor: (any ConnectivityMonitoring)?
    private let settlingInterval: Duration

    /// Creates a plugin.
    ///
    /// - Parameters:
    ///   - monitor: Knows whether there is a network; by default the system's, which is watched from now on.
    ///   - settlingInterval: How long the device must have been offline.
    public init(monitor: (any ConnectivityMonitoring)? = nil, settlingInterval: Duration = .seconds(2)) {
        self.monitor = monitor ?? RequestableQueueManager.systemConnectivity
        self.settlingInterval = settlingInterval
        // The first answer of the system takes a moment.
        if monitor == nil { _ = self.monitor?.snapshot }
    }

    /// Sends the request, or refuses it.
    public nonisolated(nonsending) func send(
        _ requestable: any Requestable, next: NextHandler
    ) async throws(AtomError) -> AtomResponse {
        guard let snapshot = monitor?.snapshot, snapshot.isOffline == true, snapshot.duration > settlingInterval,
            requestable.caching == .disabled || !["GET", "HEAD"].contains(requestable.method.name)
        else { return try await next(requestable) }
        let error = AtomError.session(
            URLError(.notConnectedToInternet, "There is no network connection", delivery: .notSent))
        let request = AtomError.Request(of: requestable, attempts: 0, duration: .zero)
        throw request.map { error.noting($0) } ?? error
    }
}
