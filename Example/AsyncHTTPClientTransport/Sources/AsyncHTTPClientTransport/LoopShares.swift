import Foundation
import NIOCore

/// Chooses the event loop of the next exchange.
///
/// AsyncHTTPClient opens a connection on the loop of the request that needs it, and prefers idle connections of that
/// loop. If there is none, the exchange switches between two threads at each event. Therefore one loop gets all
/// exchanges until it has its share of the connections, and then the next loop does.
final class LoopShares: @unchecked Sendable {
    // `exchanges` is accessed only under `lock`; the rest is constant.
    private let lock = NSLock()
    private var exchanges: [Int]
    private let turns: [LoopTurn]
    private let share: Int

    init(_ group: any EventLoopGroup, connections: Int, starts: StartOrder) {
        let all = Array(group.makeIterator())
        // Each transport starts with a random loop; otherwise the first loop would serve them all.
        let first = Int.random(in: 0..<max(all.count, 1))
        turns = (all[first...] + all[..<first]).map { LoopTurn($0, starts: starts) }
        exchanges = Array(repeating: 0, count: turns.count)
        share = max(1, (connections + turns.count - 1) / max(turns.count, 1))
    }

    /// Reserves a place on a loop.
    func take() -> (place: Int, turn: LoopTurn) {
        lock.withLock {
            var place = 0
            for candidate in exchanges.indices {
                if exchanges[candidate] < share {
                    place = candidate
                    break
                }
                if exchanges[candidate] < exchanges[place] { place = candidate }
            }
            exchanges[place] += 1
            return (place, turns[place])
        }
    }

    func giveBack(_ place: Int) {
        lock.withLock { exchanges[place] -= 1 }
    }
}
