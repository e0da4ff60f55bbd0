import Foundation

/// The connections of one stream of server-sent events.
///
/// One task at a time uses it.
final class EventSource: @unchecked Sendable {
    private let request: PreparedRequest
    private let reconnection: Reconnection
    private let manager: RequestableQueueManager
    private let isBegun = Guarded(false)
    /// The SDK's own header fields, which follow a redirect to another origin.
    private let fields: [HeaderFields.Field]

    // Used by the stream's reader only.
    private var handle: StreamHandle?
    /// Whether the server has ended the stream.
    private var isOver = false
    private var attempts = 0
    private var delay: Duration
    private(set) var lastEventID: String

    init(
        _ request: consuming PreparedRequest, lastEventID: String, reconnection: Reconnection,
        manager: RequestableQueueManager
    ) {
        request.add("Accept", "text/event-stream")
        fields =
            request.headerFields.contains("Cache-Control") ? [] : [.init(name: "Cache-Control", value: "no-store")]
        self.request = request
        self.lastEventID = lastEventID
        self.reconnection = reconnection
        self.manager = manager
        delay = reconnection.delay
    }

    /// Begins to read.
    ///
    /// - Returns: Whether nobody has begun before.
    func begin() -> Bool {
        isBegun.isSetNow()
    }

    /// Sends the request, and waits for the head.
    ///
    /// - Parameter isAgain: Whether there was a connection before. Then the pauses
    ///   and the limit are those of the stream, and not those of a retry policy.
    func open(isAgain: Bool = false) async throws(AtomError) -> AtomResponse {
        let request = isAgain ? request.following(RetryPolicy.none) : request
        let place = HeaderFields.Field(name: "Last-Event-ID", value: lastEventID)
        let handle = manager.openStream(request, fields: lastEventID.isEmpty ? fields : fields + [place])
        let head = try await handle.stream.head()
        if head.statusCode != 204 { try Self.check(head) }
        isOver = head.statusCode == 204
        self.handle = isOver ? nil : handle
        return head
    }

    /// Waits for the next part of the current response.
    ///
    /// - Returns: `nil` at its end.
    func next() async throws(AtomError) -> Data? { try await handle?.stream.next() }

    /// An event has arrived.
    func receivedEvent() { attempts = 0 }

    /// Waits and connects again, as often as that is wanted.
    ///
    /// - Parameters:
    ///   - failure: How the last connection failed; `nil` if it has ended.
    ///   - lastEventID: The last event's ID.
    ///   - serverDelay: The time that the server asked for.
    /// - Returns: Whether there is another response.
    func reconnect(
        after failure: AtomError?, lastEventID: String, serverDelay: Duration?
    ) async throws(AtomError) -> Bool {
        handle = nil
        if isOver { return false }
        // What can't be a header field can't be sent back.
        if HTTPGrammar.violation(inFieldValue: lastEventID) == nil { self.lastEventID = lastEventID }
        if let serverDelay { delay = serverDelay }
        var failure = failure
        while true {
            if let failure, !Self.isTemporary(failure) { throw failure }
            guard attempts < reconnection.maximumAttempts else {
                if let failure { throw failure }
                return false
            }
            let pause = min(delay * (1 << min(attempts, 10)), max(delay, .seconds(60)))
            await manager.time.sleep(for: max(pause, requestedPause(after: failure)))
            if Task.isCancelled { throw .cancelled(.answered) }
            attempts += 1
            do {
                return try await open(isAgain: true).statusCode != 204
            } catch {
                failure = error
            }
        }
    }

    func close() { handle = nil }

    /// The time that an error response asks for.
    private func requestedPause(after failure: AtomError?) -> Duration {
        guard case .response(let response)? = failure else { return .zero }
        return RetryAfter.duration(in: response.headerFields, now: manager.time.date) ?? .zero
    }

    private static func isTemporary(_ failure: AtomError) -> Bool {
        switch failure {
        case .session: true
        case .response(let response): response.statusCode.map { $0 == 429 || $0 >= 500 } ?? false
        default: false
        }
    }

    private static func check(_ head: AtomResponse) throws(AtomError) {
        guard MediaType(head.headerFields["Content-Type"])?.name != "text/event-stream" else { return }
        let explanation = "The server sent no stream of events: its media type is not text/event-stream."
        throw .transfer(
            TransferError(.unexpectedMediaType, explanation, delivery: .answered, response: head))
    }
}
