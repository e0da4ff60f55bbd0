import Foundation
import Testing

@testable import AtomNetworking

@Suite("A body that the app gives out part by part", .limited)
struct BodySequenceTests {
    private static func sequence(
        _ parts: [String], length: Int64? = nil, isRepeatable: Bool = true
    ) -> BodySequence {
        BodySequence(length: length, isRepeatable: isRepeatable) {
            AsyncStream<Data> { continuation in
                for part in parts { continuation.yield(Data(part.utf8)) }
                continuation.finish()
            }
        }
    }

    /// Reads all of a body, a few bytes at a time.
    private static func text(_ reader: BodySequenceReader, by size: Int = 3) async throws -> String {
        var text = Data()
        var buffer = [UInt8](repeating: 0, count: size)
        while true {
            let count: Int? = try buffer.withUnsafeMutableBytes { bytes in try reader.read(into: bytes) }
            guard let count else { return String(decoding: text, as: UTF8.self) }
            text.append(contentsOf: buffer[..<count])
            if count == 0 { await withCheckedContinuation { proceed in reader.whenReadable { proceed.resume() } } }
        }
    }

    private func reason(_ body: () async throws -> String) async -> TransferError.Reason? {
        do {
            _ = try await body()
            return nil
        } catch {
            if case .transfer(let failure)? = error as? AtomError { return failure.reason }
            return nil
        }
    }

    @Test func eachReaderGetsAllOfIt() async throws {
        let sequence = Self.sequence(["", "ab", "cdefgh", "", "i"])
        #expect(try await Self.text(sequence.makeReader()) == "abcdefghi")
        #expect(try await Self.text(sequence.makeReader(), by: 100) == "abcdefghi")
        #expect(!sequence.isSpent)
    }

    @Test func oneThatCanBeReadOnceIsSpentWhenItHasBeenOpened() async throws {
        let sequence = Self.sequence(["ab"], isRepeatable: false)
        #expect(!sequence.isSpent)
        let first = sequence.makeReader()
        #expect(!sequence.isSpent)
        first.whenReadable {}
        #expect(sequence.isSpent)
        #expect(
            await reason { try await Self.text(sequence.makeReader()) } == .bodyNotRepeatable)
        #expect(try await Self.text(first) == "ab")
    }

    @Test(arguments: [(Int64(1), true), (2, false), (3, true)])
    func itsLengthIsChecked(length: Int64, isWrong: Bool) async {
        let reader = Self.sequence(["ab"], length: length).makeReader()
        let reason = await reason { try await Self.text(reader) }
        #expect(reason == (isWrong ? .bodyLengthChanged : nil))
    }

    @Test func closingEndsTheStreamAndWakesWhoWaits() async throws {
        let hasEnded = Signal()
        let sequence = BodySequence(length: nil, isRepeatable: false) {
            AsyncStream<Data> { continuation in continuation.onTermination = { _ in hasEnded.raise() } }
        }
        let reader = sequence.makeReader()
        async let text = reason { try await Self.text(reader) }
        #expect(await eventually { sequence.isSpent })
        reader.close()
        _ = await text
        await hasEnded.wait()
    }

    @Test func aReleasedReaderEndsTheStream() async {
        let hasEnded = Signal()
        let stream = TransportBody(
            BodySequence(length: nil, isRepeatable: true) {
                AsyncStream<Data> { continuation in
                    continuation.onTermination = { _ in hasEnded.raise() }
                    continuation.yield(Data("x".utf8))
                    continuation.yield(Data("y".utf8))
                }
            })
        do {
            let reader = stream.makeReader()
            await withCheckedContinuation { proceed in reader.whenReadable { proceed.resume() } }
        }
        await hasEnded.wait()
    }
}
