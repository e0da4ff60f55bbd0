import Foundation

/// What came of an exchange with a store, noted inside it: it may still throw
/// when all is done but the write.
final class ExchangeReport: @unchecked Sendable {
    // Both are touched under `lock` only.
    private let lock = NSLock()
    private var noted: SessionActor.RefreshOutcome?
    private var found = UnwrittenCredential.Replaced.unknown

    /// What became of a refresh; `nil` if the exchange has not come to it.
    var outcome: SessionActor.RefreshOutcome? { lock.withLock { noted } }

    /// What was stored before.
    var stored: UnwrittenCredential.Replaced { lock.withLock { found } }

    /// What comes first counts: an exchange calls its body once.
    func note(_ outcome: SessionActor.RefreshOutcome) {
        lock.withLock { noted = noted ?? outcome }
    }

    func note(stored: TokenCredential?) {
        lock.withLock { found = .known(stored) }
    }
}
