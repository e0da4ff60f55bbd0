import FlyingFox
import FlyingSocks
import Foundation

/// A body that never ends: some bytes, then a space every 50 ms.
///
/// Its chunks tell FlyingFox when the client has disconnected. It also ends,
/// without a last chunk, when the server stops.
struct EndlessBody: AsyncBufferedSequence {
    typealias Element = UInt8

    let start: Data

    func makeAsyncIterator() -> Iterator {
        Iterator(rest: start)
    }

    struct Iterator: AsyncBufferedIteratorProtocol {
        /// What is left of the first bytes.
        var rest: Data

        mutating func next() async throws -> UInt8? {
            try await nextBuffer(suggested: 1)?.first
        }

        mutating func nextBuffer(suggested count: Int) async throws -> [UInt8]? {
            guard rest.isEmpty else {
                defer { rest = rest.dropFirst(count) }
                return Array(rest.prefix(count))
            }
            try await Task.sleep(nanoseconds: 50_000_000)
            return [UInt8(ascii: " ")]
        }
    }
}
