import Testing

@testable import AtomNetworkingSignIn

@Suite(.limited)
struct Base64URLTests {
    @Test(
        "The vectors of RFC 4648 §10, without padding",
        arguments: [
            ("", ""), ("f", "Zg"), ("fo", "Zm8"), ("foo", "Zm9v"), ("foob", "Zm9vYg"), ("fooba", "Zm9vYmE"),
            ("foobar", "Zm9vYmFy"),
        ])
    func vectors(text: String, encoded: String) {
        #expect(Base64URL.encode(text.utf8) == encoded)
        #expect(Base64URL.decode(encoded) == Array(text.utf8))
    }

    @Test("All bytes come back, in the alphabet of URLs")
    func roundTrip() {
        var generator = SeededGenerator(seed: 7)
        for count in 0..<200 {
            let bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
            let text = Base64URL.encode(bytes)
            #expect(!text.contains { "+/=".contains($0) })
            #expect(Base64URL.decode(text) == bytes)
        }
        #expect(Base64URL.encode([0xFB, 0xFF]) == "-_8")
    }

    @Test(
        "What no bytes are encoded as is refused",
        arguments: ["Zg==", "Zg=", "Z", "Zm9vY", "Zh", "Zm9", "+_8", "/_8", "Zm 9v", "Zm9v\n", "Zm9é"])
    func refuses(text: String) {
        #expect(Base64URL.decode(text) == nil)
    }
}
