import Foundation

/// Takes the body of one response.
///
/// Its methods are called outside every lock, one call at a time: `receive` any number of times, in the order of the
/// parts, then either `finish` or `abandon` once.
protocol ResponseSink: Sendable {
    /// Takes the next part.
    ///
    /// - Throws: Why it can't. The exchange fails with this error, and the sink is abandoned.
    mutating func receive(_ part: Data) throws(AtomError)

    /// The body is complete.
    ///
    /// - Returns: The data that the caller gets with the response.
    mutating func finish() throws(AtomError) -> Data

    /// The body is not wanted any more.
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
