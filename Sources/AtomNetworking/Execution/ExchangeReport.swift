import Foundation

/// What came of an exchange with a store, noted inside it: it may still throw
/// when all is done but the write.
final class ExchangeReport: @unchecked Sendable {
    private enum Run {
        case pending
        case running
        case over(TokenCredential?)
    }

    // All is touched under `lock` only.
    private let lock = NSLock()
    private var run = Run.pending
    private var noted: SessionActor.RefreshOutcome?
    private var found = UnwrittenCredential.Replaced.unknown

    /// What became of a refresh; `nil` if the exchange has not come to it.
    var outcome: SessionActor.RefreshOutcome? { lock.withLock { noted } }

    /// What was stored before.
    var stored: UnwrittenCredential.Replaced { lock.withLock { found } }

    /// Runs the body of the exchange, once: a refresh token can be spent once.
    ///
    /// - Returns: What came of it, also for a store that calls it again because
    ///   it could not write.
    /// - Throws: When the store calls it while it runs.
    func once(_ body: () async -> TokenCredential?) async throws(TokenStoreError) -> TokenCredential? {
        let before = lock.withLock {
            defer { if case .pending = run { run = .running } }
            return run
        }
        switch before {
        case .over(let result): return result
        case .running: throw .refused("its exchange runs its body twice at once")
        case .pending:
            let result = await body()
            lock.withLock { run = .over(result) }
            return result
        }
    }

    /// What comes first counts.
    func note(_ outcome: SessionActor.RefreshOutcome) {
        lock.withLock { noted = noted ?? outcome }
    }

    func note(stored: TokenCredential?) {
        lock.withLock { found = .known(stored) }
    }
}
