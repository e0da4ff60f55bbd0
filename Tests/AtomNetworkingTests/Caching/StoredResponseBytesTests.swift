import Foundation
import Testing

@testable import AtomNetworking

@Suite("The bytes of a kept response", .limited)
struct StoredResponseBytesTests {
    private static let sample: StoredResponse = {
        var stored = StoredResponse.sample(
            "Content-Type: application/json", "ETag: \"é\"", "X-Empty:", "Cache-Control: max-age=60")
        stored.varying = [.init(name: "accept", value: ""), .init(name: "accept-language", value: "de")]
        stored.requestedAt = Date(timeIntervalSinceReferenceDate: 812_345_678.901_234_5)
        stored.receivedInstant = nil
        return stored
    }()

    @Test("What was written is read, except when it came to this process")
    func roundTrip() {
        var stored = Self.sample
        for body in [Data(), Data([0]), Data(0...255), Data("[]".utf8)] {
            stored.body = body
            #expect(StoredResponse(encoded: stored.encoded) == stored)
            stored.receivedInstant = MonotonicInstant(nanoseconds: 5)
            #expect(StoredResponse(encoded: stored.encoded)?.receivedInstant == nil)
            stored.receivedInstant = nil
        }
        stored.headerFields = HeaderFields()
        stored.varying = []
        stored.address = ""
        // A combining character, a NUL, and what Foundation takes for the mark of a byte order.
        for text in ["\u{301}", "\u{0}", "\u{FEFF}x", "e\u{301}", "\r\n"] {
            stored.address = text
            let address = StoredResponse(encoded: stored.encoded)?.address
            #expect(address?.utf8.elementsEqual(text.utf8) == true)
        }
        stored.receivedAt = .distantFuture
        stored.requestedAt = .distantPast
        #expect(StoredResponse(encoded: stored.encoded) == stored)
    }

    @Test("A body begins at 0, also if the bytes are a slice")
    func slices() {
        let encoded = Self.sample.encoded
        let slice = (Data([1, 2, 3]) + encoded + Data([4])).dropFirst(3).dropLast()
        #expect(slice.startIndex != 0)
        #expect(StoredResponse(encoded: slice) == Self.sample)
        #expect(StoredResponse(encoded: slice)?.body.startIndex == 0)
    }

    @Test("No part of the bytes is a response, nor are more of them")
    func prefixes() {
        let encoded = Self.sample.encoded
        for count in 0..<encoded.count { #expect(StoredResponse(encoded: encoded.prefix(count)) == nil, "\(count)") }
        for rest in [Data([0]), Data(count: 8), encoded] {
            #expect(StoredResponse(encoded: encoded + rest) == nil)
        }
        // What a disk leaves of a file whose size was written before its blocks.
        for count in 0..<encoded.count where encoded.dropFirst(count).contains(where: { $0 != 0 }) {
            let torn = encoded.prefix(count) + Data(count: encoded.count - count)
            #expect(StoredResponse(encoded: torn) == nil, "\(count)")
        }
    }

    @Test("A changed bit makes it none")
    func bits() {
        let encoded = Self.sample.encoded
        for index in encoded.indices {
            for bit in 0..<8 {
                var changed = encoded
                changed[index] ^= 1 << UInt8(bit)
                #expect(StoredResponse(encoded: changed) == nil, "\(index), \(bit)")
            }
        }
    }

    @Test("The highest bits of two neighbours don't make up for one another")
    func neighbours() {
        let encoded = Self.sample.encoded
        for index in 12..<(encoded.count - 8) {
            var changed = encoded
            changed[index] ^= 0x80
            changed[index + 8] ^= 0x80
            #expect(StoredResponse(encoded: changed) == nil, "\(index)")
        }
    }

    @Test("Any bytes are read without a fault, also with a checksum that is right")
    func random() {
        var generator = SeededGenerator(seed: 8_246)
        func bytes(_ count: Int) -> Data {
            Data((0..<count).map { _ in UInt8.random(in: .min ... .max, using: &generator) })
        }
        let encoded = Self.sample.encoded
        for _ in 0..<10_000 {
            #expect(StoredResponse(encoded: bytes(Int.random(in: 0..<200, using: &generator))) == nil)
            // Lengths that aren't there, in an entry that is sealed.
            var sealed = encoded
            let start = Int.random(in: 12..<encoded.count, using: &generator)
            let changed = bytes(Int.random(in: 1...8, using: &generator)).prefix(encoded.count - start)
            sealed.replaceSubrange(start..<start + changed.count, with: changed)
            if Bool.random(using: &generator) { sealed.removeLast(Int.random(in: 0..<100, using: &generator)) }
            StoredResponse.seal(&sealed)
            guard let stored = StoredResponse(encoded: sealed) else { continue }
            #expect(stored.encoded == sealed)
        }
    }

    @Test("A large body is read and written")
    func large() {
        var stored = Self.sample
        stored.body = Data((0..<10_000_000).map { UInt8(truncatingIfNeeded: $0) })
        var encoded = stored.encoded
        #expect(StoredResponse(encoded: encoded) == stored)
        encoded[encoded.count / 2] ^= 1
        #expect(StoredResponse(encoded: encoded) == nil)
    }
}
