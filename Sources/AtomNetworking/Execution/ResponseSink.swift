import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Takes the parts of one answer's body.
///
/// Called outside every lock, in the order of the parts, one call at a time:
/// any number of `receive`, then exactly one of `finish` and `abandon`.
protocol ResponseSink: Sendable {
    /// Takes the next part.
    ///
    /// - Throws: Why it can't; the exchange fails with that, and the sink is
    ///   abandoned.
    mutating func receive(_ part: Data) throws(AtomError)

    /// The body is complete.
    ///
    /// - Returns: What the caller gets as the answer's data.
    mutating func finish() throws(AtomError) -> Data

    /// Nothing more comes, and nobody wants what has come.
    mutating func abandon()
}

/// Collects a body in memory, up to a limit.
struct MemorySink: ResponseSink {
    private var body = Data()
    private let limit: Int

    init(limit: Int) { self.limit = limit }

    mutating func receive(_ part: Data) throws(AtomError) {
        guard part.count <= limit - body.count else {
            throw .session(
                URLError(
                    .dataLengthExceedsMaximum,
                    "The body is larger than the \(limit) bytes that are collected in memory", delivery: .answered))
        }
        if body.isEmpty { body = part } else { body.append(part) }
    }

    mutating func finish() -> Data {
        defer { body = Data() }
        return body
    }

    mutating func abandon() { body = Data() }
}
