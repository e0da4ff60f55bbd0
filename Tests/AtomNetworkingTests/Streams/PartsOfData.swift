import Foundation

extension Data {
    /// The ways to split the bytes in parts: in two at each place, in three if
    /// they are few, each byte by itself, and not at all.
    var splits: [[Data]] {
        var splits = [[self], map { Data([$0]) }]
        for first in 0...count {
            splits.append([prefix(first), dropFirst(first)])
            guard count <= 28 else { continue }
            for second in first...count {
                splits.append([prefix(first), self[(startIndex + first)..<(startIndex + second)], dropFirst(second)])
            }
        }
        return splits
    }
}
