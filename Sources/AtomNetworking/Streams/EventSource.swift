import Foundation

/// The connections of one stream of server-sent events.
///
/// One task at a time uses it.
final class EventSource: @unchecked Sendable {
    /// The shortest and the longest time that a server can ask for.
    private static let pauses = Duration.seconds(1)...Duration.seconds(600)

    private let request: PreparedRequest
    private let reconnection: Reconnection
    private let manager: RequestableQueueManager
    /// The SDK's own header fields, which follow a redirect to another origin.
    private let fields: [HeaderItem]

    // Used by the stream's reader only.
    /// The current connection, or the last one; `nil` if the server has ended the stream.
    private var handle: StreamHandle?
    private var attempts = 0
    private var delay: Duration
    /// The pause before the current connection.
    private var pause = Duration.zero
    private(set) var lastEventID: String
    /// The head of the current response, or of the last one.
    private var head: AtomResponse?

    init(
        _ request: consuming PreparedRequest, lastEventID: String, reconnection: Reconnection,
        manager: RequestableQueueManager
    ) {
        request.set("Accept", "text/event-stream")
        fields =
            request.headerFields.contains("Cache-Control") ? [] : [.init(name: "Cache-Control", value: "no-cache")]
        self.request = request
        self.lastEventID = lastEventID
        self.reconnection = reconnection
        self.manager = manager
        delay = reconnection.delay.bounded
    }

    /// Sends the request, and waits for the head.
    ///
    /// After another connection the pauses and the limit are those of the stream, and not those of a retry policy.
    func open(
        isAgain: Bool = false, isolation actor: isolated (any Actor)? = #isolation
    ) async throws(AtomError) -> AtomResponse {
        let handle = connect(isAgain: isAgain)
        do {
            return try await head(of: handle)
        } catch {
            AtomNotification.announceRefusal(error, on: manager.dispatchQueue)
            throw error
        }
    }

    /// Sends the request.
    ///
    /// - Parameter duration: The longest time until the head.
    func connect(isAgain: Bool = false, within duration: Duration? = nil) -> StreamHandle {
        var request = isAgain ? request.following(RetryPolicy.none) : request
        if let duration { request.timeouts = request.timeouts.ending(within: duration) }
        let place = HeaderItem(name: "Last-Event-ID", value: lastEventID)
        let fields = lastEventID.isEmpty ? fields : fields + [place]
        return manager.openStream(request, fields: fields, after: handle?.stream)
    }

    /// Waits for the head of a connection.
    func head(
        of handle: StreamHandle, isolation actor: isolated (any Actor)? = #isolation
    ) async throws(AtomError) -> AtomResponse {
        let head = try await handle.stream.head()
        self.head = head
        if head.statusCode == 204 {
            self.handle = nil
        } else {
            guard MediaType(head.headerFields["Content-Type"])?.name == "text/event-stream" else {
                let explanation = "The server sent no stream of events: its media type is not text/event-stream."
                throw naming(
                    .transfer(TransferError(.unexpectedMediaType, explanation, delivery: .answered, response: head)))
            }
            self.handle = handle
        }
        return head
    }

    /// Ends the reading if the reader has been cancelled, or has signed out.
    func check() throws(AtomError) { try handle?.stream.check() }

    /// The next part of the current response; `nil` at its end.
    func next(isolation actor: isolated (any Actor)? = #isolation) async throws(AtomError) -> Data? {
        try await handle?.stream.next()
    }

    /// Waits and connects again, as often as that is wanted, after a failure or,
    /// without one, the end of the connection.
    ///
    /// - Returns: Whether there is another response.
    func reconnect(
        after failure: AtomError?, lastEventID: String, serverDelay: Duration?,
        isolation actor: isolated (any Actor)? = #isolation
    ) async throws(AtomError) -> Bool {
        guard let stream = handle?.stream else { return false }
        // A server that closes each connection at once is asked less and less often, whatever it sends.
        if stream.hasLasted(max(pause, Self.pauses.lowerBound)) { attempts = 0 }
        self.lastEventID = lastEventID
        if let serverDelay { delay = min(max(serverDelay, Self.pauses.lowerBound), Self.pauses.upperBound) }
        let policy = request.retrying?.policy ?? manager.retryPolicy
        var failure = failure
        while true {
            if let failure, !policy.isTemporary(failure), !failure.isConnectivityFailure { throw failure.ofAnswered }
            // A body that can be read only once isn't begun again.
            guard attempts < reconnection.maximumAttempts, request.body?.isSpent != true else {
                if let failure { throw failure.ofAnswered }
                return false
            }
            guard stream.mayGoOn else { throw .authentication(.signedOut(delivery: .answered)) }
            pause = nextPause(after: failure)
            let reason = failure?.explanation ?? "The server has ended the connection."
            manager.observers?.note(
                "↻ \(request.method) \(request.target): the stream connects again in \(pause.brief). \(reason)",
                at: .notice)
            await stream.rest(for: pause)
            try stream.check()
            attempts += 1
            do {
                return try await open(isAgain: true).statusCode != 204
            } catch {
                failure = error
            }
        }
    }

    func close() { handle = nil }

    /// At least as long as the server asks for, and up to half as long again, so
    /// that not all who were disconnected together come back together.
    private func nextPause(after failure: AtomError?) -> Duration {
        let own = Duration.backOff(base: delay, doublings: attempts, cap: max(delay, .seconds(60)), chance: 1)
        let wait = failure?.retryAt?.timeIntervalSince(manager.time.date) ?? 0
        let pause = max(own, min(.seconds(max(wait, 0)), Self.pauses.upperBound))
        return pause + pause * (manager.random() / 2)
    }

    /// The error with the request of the current response, or of the last one.
    func naming(_ error: AtomError) -> AtomError { head.map { error.about($0, until: manager.time.now) } ?? error }
}

extension AtomError {
    /// The same error of a request that the server has answered before.
    fileprivate var ofAnswered: AtomError {
        guard delivery == .notSent else { return self }
        return switch self {
        case .session(let error as URLError): .session(error.delivered(.answered))
        case .authentication(let error):
            .authentication(
                error.delivered(.init(.answered, request: error.reach.request, refresh: error.reach.refresh)))
        case .cancelled: .cancelled(.answered)
        default: self
        }
    }
}
