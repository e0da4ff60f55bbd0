import Foundation
import NIOCore

/// Which event loop the next exchange runs on.
///
/// AsyncHTTPClient opens a connection on the loop of the request that wants
/// one, and prefers idle connections of that loop; where it finds none the
/// exchange hops between two threads at each event. So a loop gets all
/// exchanges until it has its share of the connections, then the next one does.
final class LoopShares: @unchecked Sendable {
    // `exchanges` is touched under `lock` only; the rest is constant.
    private let lock = NSLock()
    private var exchanges: [Int]
    private let turns: [LoopTurn]
    private let share: Int

    init(_ group: any EventLoopGroup, connections: Int, starts: StartOrder) {
        let all = Array(group.makeIterator())
        // Each transport begins with another one, or the first loop would carry them all.
        let first = Int.random(in: 0..<max(all.count, 1))
        turns = (all[first...] + all[..<first]).map { LoopTurn($0, starts: starts) }
        exchanges = Array(repeating: 0, count: turns.count)
        share = max(1, (connections + turns.count - 1) / max(turns.count, 1))
    }

    /// Takes a place on a loop.
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
