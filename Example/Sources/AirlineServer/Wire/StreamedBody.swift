import FlyingFox
import FlyingSocks
import Foundation

/// A body that is made part by part while it is sent.
///
/// FlyingFox writes every part at once, without waiting for the next one.
struct StreamedBody: AsyncBufferedSequence {
    typealias Element = UInt8

    /// Returns the next part, which isn't empty, or `nil` at the end.
    ///
    /// An error closes the connection in the middle of the body.
    let nextPart: @Sendable () async throws -> Data?

    func makeAsyncIterator() -> Iterator { Iterator(nextPart: nextPart) }

    struct Iterator: AsyncBufferedIteratorProtocol {
        let nextPart: @Sendable () async throws -> Data?

        /// FlyingFox reads only whole parts.
        mutating func next() async throws -> UInt8? { nil }

        mutating func nextBuffer(suggested count: Int) async throws -> Data? { try await nextPart() }
    }
}
