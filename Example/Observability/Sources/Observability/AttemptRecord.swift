import AtomNetworking

/// The attempts of one request, put together from its events.
///
/// An attempt has two ends. The SDK is done with it when it is judged: it is sent again, redirected, or the request has
/// its outcome. The transport reports what it has measured before that or afterwards, when the rest of a body that
/// nobody needs has been read, or not at all.
struct AttemptRecord: Sendable {
    /// What an event has brought.
    struct Change: Sendable {
        /// This attempt has begun.
        var begun: Attempt?
        /// The SDK is done with this one.
        var judged: Attempt?
        /// Nothing more will be heard of these.
        var complete: [Attempt] = []
    }

    /// In order; the last one may not have been judged.
    private var open: [Attempt] = []

    mutating func note(_ event: RequestEvent) -> Change {
        var change = Change()
        switch event.kind {
        case .sent(let sent):
            let attempt = Attempt(sent: sent, startedAt: event.elapsed)
            open.append(attempt)
            change.begun = attempt
        case .answered(let head):
            update(head.attempt) { $0.head = head }
        case .measured(let metrics, let attempt):
            update(attempt) { $0.metrics = metrics }
            change.complete = takeComplete()
        case .redirected:
            change.judged = judge(at: event.elapsed, nil)
            change.complete = takeComplete()
        case .retried(let failure, _, _):
            change.judged = judge(at: event.elapsed, Attempt.Failure(failure))
            change.complete = takeComplete()
        case .finished(let summary):
            change.judged = finish(summary, at: event.elapsed)
            change.complete = open
            open = []
        default:
            break
        }
        return change
    }

    private mutating func update(_ number: Int, _ change: (inout Attempt) -> Void) {
        guard let index = open.lastIndex(where: { $0.number == number }) else { return }
        change(&open[index])
    }

    private mutating func judge(
        at instant: Duration, _ failure: Attempt.Failure?, bytesReceived: Int64? = nil
    ) -> Attempt? {
        guard let index = open.indices.last, open[index].endedAt == nil else { return nil }
        open[index].endedAt = instant
        open[index].failure = failure
        open[index].bytesReceived = bytesReceived
        return open[index]
    }

    private mutating func finish(_ summary: RequestSummary, at instant: Duration) -> Attempt? {
        let failure =
            summary.failure.map { Attempt.Failure($0, statusCode: summary.statusCode) }
            // An endpoint may accept it, and it's still an error by the convention.
            ?? summary.statusCode.flatMap { Attempt.Failure(statusCode: $0) }
        let bytes = summary.statusCode.flatMap { _ in bodySize(summary) }
        return judge(at: instant, failure, bytesReceived: bytes)
    }

    /// The bytes of the body as they were transferred, if that is known: the SDK
    /// counts them decoded, and for all attempts together.
    private func bodySize(_ summary: RequestSummary) -> Int64? {
        guard let last = open.last, last.request.method != "HEAD", let head = last.head else { return nil }
        if let length = head.headerFields["Content-Length"].flatMap(Int64.init) { return length }
        guard summary.attempts == 1, !head.headerFields.contains("Content-Encoding") else { return nil }
        return summary.bytesReceived
    }

    private mutating func takeComplete() -> [Attempt] {
        let complete = open.filter { $0.endedAt != nil && $0.metrics != nil }
        open.removeAll { $0.endedAt != nil && $0.metrics != nil }
        return complete
    }
}
