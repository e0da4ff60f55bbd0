/// The answers that a request has not got, and why.
struct NearMisses: CustomStringConvertible {
    private var misses: [(answer: String, reasons: [String])] = []

    var isEmpty: Bool { misses.isEmpty }

    mutating func add(_ answer: String, _ reasons: [String]) {
        misses.append((answer, reasons))
    }

    /// The nearest ones, in their order.
    var description: String {
        let limit = 4
        let nearest = misses.indices.sorted { misses[$0].reasons.count < misses[$1].reasons.count }.prefix(limit)
        let shown = nearest.sorted().map { "\(misses[$0].answer): \(misses[$0].reasons.joined(separator: ", "))" }
        let rest = misses.count - shown.count
        return shown.joined(separator: "; ") + (rest > 0 ? "; and \(rest) more" : "")
    }
}
