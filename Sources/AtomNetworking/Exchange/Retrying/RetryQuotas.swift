/// What the retries at each server have cost, so that a server that is down isn't asked again and again.
///
/// Only servers with failures are remembered.
final class RetryQuotas: Sendable {
    /// What was spent and not given back.
    private let spent = Guarded<[Origin: Int]>([:])

    /// So many servers are remembered.
    private static let maximumOrigins = 1_000

    /// Pays for a retry, if there is enough left.
    func pay(_ cost: Int, of quota: Int, at origin: Origin) -> Bool {
        spent.withLock { spent in
            let before = spent[origin] ?? 0
            guard cost <= quota - before else { return false }
            if cost > 0 {
                if before == 0, spent.count >= Self.maximumOrigins { spent = [:] }
                spent[origin] = before + cost
            }
            return true
        }
    }

    /// Gives something back, because of a success or because it was not needed.
    func giveBack(_ amount: Int, at origin: Origin) {
        spent.withLock { spent in
            guard let before = spent[origin] else { return }
            spent[origin] = before > amount ? before - amount : nil
        }
    }

    /// What has been spent at a server.
    func spent(at origin: Origin) -> Int { spent.withLock { $0[origin] ?? 0 } }
}
