import Foundation

/// Something that has happened to a request.
///
/// Events show methods, URLs without the values of the query, status codes, sizes and times; of header fields the
/// values that can't be secret, and of all others the names. They never have a body.
public struct RequestEvent: Sendable {
    /// Who has made the request.
    public enum Purpose: Sendable, Hashable {
        /// The app.
        case service
        /// The SDK: it gets a new access token.
        case token
        /// The SDK: it revokes a token.
        case revocation
    }

    /// What has happened.
    #if hasAttribute(nonexhaustive)
        @nonexhaustive
    #endif
    public enum Kind: Sendable {
        /// The endpoint has been read and checked; the request's first event.
        ///
        /// It comes inside `resume`, in the caller's task and on its thread: task-local values can be read.
        case described
        /// The endpoint can't be sent, because of what it says or of the configuration; the request's only event.
        case refused(RequestFailure)
        /// It shares a running request, because of ``Requestable/sharesIdenticalRequests``; with that one's number,
        /// unless it is only being started. The next event is `finished`.
        case joined(UInt64?)
        /// Its caller gets a response that the service's ``ServiceConfiguration/cache`` has kept: the second of three
        /// events, and the next one is `finished`.
        ///
        /// If the server was asked whether the response still holds, or couldn't be asked, the question is a request
        /// with events of its own, before these.
        case cached(ReceivedHead, AtomResponse.Source)
        /// It waits in a queue.
        case queued(QueueReason)
        /// It has left the queue.
        case admitted
        /// It is handed to the transport.
        case sent(SentRequest)
        /// The head of a response has arrived.
        case answered(ReceivedHead)
        /// The request goes to another URL, here without the values of its query.
        case redirected(to: String)
        /// The request will be sent again: after a 401, or because a ``RetryPolicy`` says so.
        ///
        /// The delivery says how far this attempt got. The delay is `nil` for at once,
        /// or as soon as the `queued` that follows allows it.
        case retried(after: AttemptFailure, delivery: AtomError.Delivery, delay: Duration?)
        /// The transport has measured this attempt, which has ended.
        indirect case measured(TransportMetrics, attempt: Int)
        /// The outcome is known; the last event.
        case finished(RequestSummary)
        /// A refresh that a request of this service has started is over; the failure is `nil` if there is a new access
        /// token. It belongs to no request; that to the token endpoint has events of its own.
        case refreshed(failure: RequestFailure?)
        /// The user has to sign in again. Of the services that share the session, the
        /// one hears it whose request began the last refresh. It belongs to no request.
        case sessionEnded(RequestFailure)
    }

    /// What a request waits for.
    public enum QueueReason: Sendable, Hashable {
        /// The session: the first read of its store, or a refresh that is due or running.
        case session
        /// The end of other requests to its origin: only so many run at a time.
        case slot
        /// A network, because a ``RetryPolicy`` says so and the device has none.
        case network
    }

    /// What all events of one request have in common.
    ///
    /// The SDK's record of the request is a subclass: so a request that is observed needs one object less.
    class Subject: @unchecked Sendable {
        // Unchecked, because it has a subclass, which is `Sendable`. All properties here are constant and `Sendable`.
        let requestID: UInt64?
        let purpose: Purpose
        let endpoint: Any.Type?
        let request: DescribedRequest?
        let startedAt: Date

        init(
            requestID: UInt64?, purpose: Purpose, endpoint: Any.Type?, request: consuming DescribedRequest?,
            startedAt: Date
        ) {
            self.requestID = requestID
            self.purpose = purpose
            self.endpoint = endpoint
            self.request = request
            self.startedAt = startedAt
        }
    }

    /// What has happened.
    public let kind: Kind

    /// An integer, because to make a `Duration` is a call into the runtime.
    private let elapsedNanoseconds: Int64
    private let subject: Subject

    init(_ kind: consuming Kind, of subject: Subject, elapsedNanoseconds: Int64 = 0) {
        self.kind = kind
        self.elapsedNanoseconds = elapsedNanoseconds
        self.subject = subject
    }

    /// The time since the first event of the request, by a clock that never goes back.
    public var elapsed: Duration { .nanoseconds(elapsedNanoseconds) }

    /// The number of the request in this process, from 1; `nil` for an event that belongs to no request.
    public var requestID: UInt64? { subject.requestID }

    /// Who has made the request.
    public var purpose: Purpose { subject.purpose }

    /// The type of the endpoint without its module, such as `Seatmap.Endpoint`; `nil`
    /// for the SDK's own requests, and for an event that belongs to no request.
    public var endpoint: String? { subject.endpoint.map(Self.name) }

    /// The request as it was described, also after a redirect; `nil` for an endpoint
    /// that was refused, and for an event that belongs to no request.
    public var request: DescribedRequest? { subject.request }

    /// When it happened; a change of the system's clock in between makes no difference.
    public var date: Date { subject.startedAt.addingTimeInterval(elapsed.seconds) }
}

extension RequestEvent: Redacted {
    /// A line for a log: the number of the request, and what has happened.
    public var description: String { (requestID.map { "[\($0)] " } ?? "") + text }

    /// Without the module, and what the compiler adds for types that aren't visible elsewhere.
    private static func name(of type: Any.Type) -> String {
        let parts = String(reflecting: type).components(separatedBy: ".")
        return parts.dropFirst(parts.count > 1 ? 1 : 0).filter { !$0.hasPrefix("(unknown context") }
            .joined(separator: ".")
    }

    private var text: String {
        let request = self.request.map(\.description) ?? ""
        return switch kind {
        case .described:
            // The SDK's own requests have no endpoint.
            request + (endpoint.map { ([" of \($0)"] + (self.request?.content ?? [])).joined(separator: ", ") } ?? "")
        case .refused(let failure): "✗ \(endpoint ?? ""), not sent: \(failure)"
        case .joined(let other): "⇉ \(request), shared with " + (other.map { "request \($0)" } ?? "a request in flight")
        case .cached(let head, let source): "⇤ HTTP \(head.statusCode) \(request), from \(source)"
        case .queued(.session): "waits for the session: \(request)"
        case .queued(.slot): "waits for its turn: \(request)"
        case .queued(.network): "waits for a network: \(request)"
        case .admitted: "goes on: \(request)"
        case .sent(let sent): "→ \(sent.request)" + (sent.attempt > 1 ? ", attempt \(sent.attempt)" : "")
        case .answered(let head): "← HTTP \(head.statusCode) \(request)"
        case .redirected(let address): "← \(request), redirected to \(address)"
        case .retried(let failure, _, let delay):
            "↻ \(request): \(failure), to be sent again " + (delay.map { "in \($0.brief)" } ?? "at once")
        case .measured(let metrics, let attempt): "attempt \(attempt): " + Self.text(of: metrics)
        case .finished(let summary):
            summary.failure.map { "✗ \(request) in \(summary.duration.brief): \($0.description)" }
                ?? "← HTTP \(summary.statusCode ?? 0), \(summary.bytesReceived) bytes"
                + "\(summary.attempts > 1 ? " in \(summary.attempts) attempts" : "") \(request) in "
                + "\(summary.duration.brief)"
        case .refreshed(let failure):
            failure.map { "✗ refresh: \($0.description)" } ?? "The access token has been refreshed"
        case .sessionEnded(let failure): "✗ The session is over: \(failure.description)"
        }
    }

    private static func text(of metrics: TransportMetrics) -> String {
        let connection = metrics.isConnectionReused.map { $0 ? "connection kept" : "connection new" }
        let address = metrics.remoteAddress.map { "\($0) port \(metrics.remotePort ?? 0)" }
        let waiting = metrics.waiting.map { "first byte after \($0.brief)" }
        let parts = [metrics.networkProtocol, connection, address, waiting].compactMap { $0 }
        return parts.isEmpty ? "nothing measured" : parts.joined(separator: ", ")
    }
}
