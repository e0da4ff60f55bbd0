import AtomNetworking
import Foundation

/// Hears the bodies of responses, which events don't have.
///
/// Bodies aren't redacted: they may hold tokens and personal data, also those of
/// the SDK's own requests for tokens.
///
/// ```swift
/// import AtomNetworking
/// import AtomNetworkingExports
///
/// var configuration = ServiceConfiguration()
/// configuration.observers = [
///     ResponseBodyObserver { part in print("Request \(part.requestID): \(part.data.count) bytes") }
/// ]
/// ```
public struct ResponseBodyObserver: BodyObserver {
    private let hear: @Sendable (ReceivedPart) -> Void

    /// Creates an observer.
    ///
    /// - Parameter hear: Hears a part of a response's body, decoded from its content coding. The parts of one attempt
    ///   come in order, one at a time, on any thread. All parts of a response that the SDK reads to its end come before
    ///   the request's last event. Parts of any other response may come later. A part may come at the same time as an
    ///   event of the same request, and before the one that tells that it was sent. The request goes on when the
    ///   closure returns, so it must not wait.
    public init(_ hear: @escaping @Sendable (ReceivedPart) -> Void) { self.hear = hear }

    /// Does nothing: bodies aren't in events.
    public func observe(_ event: RequestEvent) {}

    package func observe(_ part: Data, of requestID: UInt64, attempt: Int) {
        hear(ReceivedPart(requestID: requestID, attempt: attempt, data: part))
    }
}

/// A part of a response's body, with its secrets.
public struct ReceivedPart: Sendable {
    /// The number of the request, as in `RequestEvent.requestID`.
    public let requestID: UInt64
    /// Which attempt the response answers, from 1.
    public let attempt: Int
    /// The bytes.
    public let data: Data
}

extension ReceivedPart: Redacted {
    /// Shows the request, the attempt and the count of bytes.
    public var description: String { "\(requestID), attempt \(attempt): \(data.count) bytes" }
}
