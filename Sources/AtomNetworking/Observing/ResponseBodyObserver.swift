import Foundation

/// An observer that hears the bodies of responses too.
///
/// Bodies aren't redacted: they may hold tokens and personal data, also those of
/// the SDK's own requests for tokens. ``HARRecorder`` is such an observer.
///
/// ```swift
/// import AtomNetworking
///
/// struct BodySizes: ResponseBodyObserver {
///     func observe(_ event: RequestEvent) {}
///     func observe(_ part: ReceivedPart) { print("Request \(part.requestID): \(part.data.count) bytes") }
/// }
///
/// var configuration = ServiceConfiguration()
/// configuration.observers = [BodySizes()]
/// ```
public protocol ResponseBodyObserver: RequestObserver {
    /// Whether the observer wants the bodies; read once, when the service is
    /// created. The default is `true`.
    var wantsResponseBodies: Bool { get }

    /// Hears a part of a response's body, decoded from its content coding.
    ///
    /// The parts of one sending come in order, one at a time, on any thread. All
    /// parts of a response that the SDK reads to its end come before the request's
    /// last event. Parts of any other response may come later. A part may come at
    /// the same time as an event of the same request, and before the one that
    /// tells of its sending.
    ///
    /// The request goes on when this method returns, so it must not wait.
    func observe(_ part: ReceivedPart)
}

extension ResponseBodyObserver {
    /// `true`.
    public var wantsResponseBodies: Bool { true }
}

/// A part of a response's body, with its secrets.
public struct ReceivedPart: Sendable {
    /// The number of the request, as in ``RequestEvent/requestID``.
    public let requestID: UInt64
    /// The number of the sending that the response answers, from 1.
    public let number: Int
    /// The bytes.
    public let data: Data
}

extension ReceivedPart: CustomStringConvertible, CustomReflectable {
    /// Shows the numbers and the count of bytes.
    public var description: String { "\(requestID), sending \(number): \(data.count) bytes" }

    /// Limits `dump` to the content of ``description``.
    public var customMirror: Mirror { Mirror(self, children: ["part": description]) }
}
