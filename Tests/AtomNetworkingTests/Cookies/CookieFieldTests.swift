import Foundation
import Testing

@testable import AtomNetworking

@Suite(.limited) struct CookieFieldTests {
    private let address = CookieAddress("https://a.example.com/x")
    private let now = Date(timeIntervalSince1970: 1_800_000_000)

    private func keep(_ line: String, in jar: inout CookieJar) throws {
        jar.keep(try #require(Cookie(line, from: address, at: now)), from: address, at: now)
    }

    private func jar(_ lines: [String]) throws -> CookieJar {
        var jar = CookieJar()
        for line in lines { try keep(line, in: &jar) }
        return jar
    }

    private func names(_ field: String?) -> [String] {
        field?.split(separator: ";").map { $0.trimmingCharacters(in: .whitespaces).prefix { $0 != "=" } }.map(
            String.init)
            ?? []
    }

    @Test func fortyCookiesOf4KBLeaveAFieldThatServersRead() throws {
        let value = String(repeating: "v", count: 4_000)
        var jar = try jar((10..<50).map { "c\($0)=\(value)" })
        for _ in 0..<3 {
            let field = jar.field(for: address, at: now)
            #expect(names(field) == ["c48", "c49"])
            #expect("Cookie: \(field ?? "")".utf8.count <= 8_190)
        }
    }

    @Test func theLineMayHave8190Octets() throws {
        let fitting = 8_190 - "Cookie: ".utf8.count - "a=".utf8.count - "; b=".utf8.count - 4_000
        let first = "a=" + String(repeating: "v", count: 4_000)
        var full = try jar([
            first, "b=" + String(repeating: "v", count: fitting - 96), "c=" + String(repeating: "v", count: 92),
        ])
        #expect("Cookie: \(full.field(for: address, at: now) ?? "")".utf8.count == 8_190)
        #expect(names(full.field(for: address, at: now)) == ["a", "b", "c"])
        var over = try jar([
            first, "b=" + String(repeating: "v", count: fitting - 96), "c=" + String(repeating: "v", count: 93),
        ])
        #expect(names(over.field(for: address, at: now)) == ["b", "c"])
    }

    @Test func whatWasSetOrSentLastGoesFirst() throws {
        let value = String(repeating: "v", count: 4_000)
        var jar = try jar(["a=\(value); Path=/x", "b=\(value); Path=/", "c=\(value); Path=/"])
        #expect(names(jar.field(for: address, at: now)) == ["b", "c"])
        // These two have been sent; now the third is set again.
        try keep("a=\(value); Path=/x", in: &jar)
        #expect(names(jar.field(for: address, at: now)) == ["a", "b"])
    }

    @Test func aSessionCookieIsSentWhateverElseWasSetBefore() throws {
        let junk = (10..<50).map { "junk\($0)=" + String(repeating: "v", count: 2_000) }
        var before = try jar(junk + ["session=1"])
        #expect(names(before.field(for: address, at: now)).contains("session"))
        // The first cookie is sent too, if there is room for a small one.
        var after = try jar(["session=1"] + junk)
        #expect(names(after.field(for: address, at: now)).contains("session"))
    }
}
