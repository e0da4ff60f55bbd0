import Foundation
import Testing

@testable import AtomNetworking

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite(.limited) struct CookieStoreTests {
    private let now = Date(timeIntervalSince1970: 1_800_000_000)
    private let address = CookieAddress("http://a.example.com/v1/me")

    /// A Foundation storage that only this test uses.
    private static func storage() throws -> HTTPCookieStorage {
        try #require(URLSessionConfiguration.ephemeral.httpCookieStorage)
    }

    private func fields(_ lines: [String]) -> HeaderFields {
        HeaderFields(lines.map { HeaderItem(name: "Set-Cookie", value: $0) })
    }

    @Test func anEphemeralServiceHasAJarOfItsOwn() {
        #expect(SessionConfiguration.ephemeral.cookieStorage == nil)
        #expect(SessionConfiguration.default.cookieStorage === HTTPCookieStorage.shared)
    }

    @Test func onlyAStoreWithCookiesIsWorthAsking() throws {
        let store = CookieStore(system: nil)
        #expect(!store.give(to: .nobody).mayHaveCookies)
        store.keep(fields(["", "=x"]), from: address, of: .nobody, at: now)
        #expect(!store.give(to: .nobody).mayHaveCookies)
        store.keep(fields(["a=1"]), from: address, of: .nobody, at: now)
        #expect(store.give(to: .nobody).mayHaveCookies)
        // Other code may fill it.
        #expect(CookieStore(system: try Self.storage()).give(to: .nobody).mayHaveCookies)
    }

    @Test(arguments: [false, true])
    func cookiesGoWhenSomebodyHasGoneOrAllAreRemoved(inFoundation: Bool) throws {
        let store = CookieStore(system: inFoundation ? try Self.storage() : nil)
        var person = [Tenure.nobody]
        for _ in 0..<2 {
            var next = person[person.count - 1]
            next.personLeaves()
            person.append(next)
        }
        let (first, _) = store.give(to: person[0])
        store.keep(fields(["a=1"]), from: address, of: first, at: now)
        let (second, _) = store.give(to: person[2])
        #expect(store.field(for: address, of: first, at: now) == nil)
        // What the whole process shares is not this service's to remove.
        #expect(store.field(for: address, of: second, at: now) == (inFoundation ? "a=1" : nil))
        store.keep(fields(["b=2"]), from: address, of: first, at: now)
        #expect(store.field(for: address, of: second, at: now) == (inFoundation ? "a=1" : nil))
        let (late, mayHaveCookies) = store.give(to: person[1])
        #expect(!mayHaveCookies && store.field(for: address, of: late, at: now) == nil)
        store.keep(fields(["c=3"]), from: address, of: second, at: now)
        store.removeAll()
        let (third, _) = store.give(to: person[2])
        store.keep(fields(["d=4"]), from: address, of: second, at: now)
        #expect(store.field(for: address, of: third, at: now) == nil)
    }

    @Test(arguments: [false, true])
    func theFirstFiftyLinesOfAnAnswerAreRead(inFoundation: Bool) throws {
        let store = CookieStore(system: inFoundation ? try Self.storage() : nil)
        store.keep(fields((100..<160).map { "c\($0)=1" }), from: address, of: .nobody, at: now)
        let sent = store.field(for: address, of: .nobody, at: now)?.components(separatedBy: "; ")
        #expect(sent == (100..<150).map { "c\($0)=1" })
    }

    @Test func foundationsStorageIsJudgedByTheSameRules() throws {
        let storage = try Self.storage()
        let store = CookieStore(system: storage)
        let secure = CookieAddress("https://a.example.com/v1/me")
        store.keep(fields(["s=1; Secure; Path=/", "__Host-a=1", "b=2; Path=/v2"]), from: secure, of: .nobody, at: now)
        store.keep(fields(["s=EVIL; Path=/", "c=3; Max-Age=10"]), from: address, of: .nobody, at: now)
        #expect(store.field(for: secure, of: .nobody, at: now) == "c=3; s=1")
        #expect(store.field(for: address, of: .nobody, at: now) == "c=3")
        #expect(store.field(for: secure, of: .nobody, at: now + 10) == "s=1")
    }

    @Test func whatOthersPutIntoFoundationsStorageWritesNoHeaderField() throws {
        let storage = try Self.storage()
        let properties: [HTTPCookiePropertyKey: Any] = [
            .name: "a", .value: "1\r\nX-Evil: 1", .path: "/", .domain: "a.example.com",
        ]
        storage.setCookie(try #require(HTTPCookie(properties: properties)))
        #expect(CookieStore(system: storage).field(for: address, of: .nobody, at: now) == nil)
    }

    @Test(arguments: [false, true])
    func thousandsOfRandomFieldsTrapNothing(inFoundation: Bool) throws {
        var generator = SeededGenerator(seed: 6_265)
        let pieces = [
            "=", ";", ",", " ", "\"", "a", "Expires", "Max-Age", "Domain", "Path", "Secure", "/", ".", "-", "9",
            "e\u{301}", "\u{1F468}\u{200D}\u{1F469}", "\u{FEFF}", "\t", "\u{301}", "Wed, 21 Oct 2037 07:28:00 GMT",
            "99999999999999999999", ":", "\u{7F}", "%00", "com", "example.com", "\u{E9}", "Port", "Version=1",
            "Comment", "Discard", "\\", "__Host-", "__Secure-",
        ]
        var store = CookieStore(system: nil)
        for round in 0..<(TestExtent.isWhole ? 5_000 : 1_000) {
            // Otherwise the test would only exercise a full jar, and be slow.
            if round % 100 == 0 { store = CookieStore(system: inFoundation ? try Self.storage() : nil) }
            let line = (0..<Int.random(in: 0...14, using: &generator)).map { _ in
                pieces[Int.random(in: pieces.indices, using: &generator)]
            }.joined()
            store.keep(fields([line]), from: address, of: .nobody, at: now)
            let field = store.field(for: address, of: .nobody, at: now) ?? ""
            #expect(HTTPGrammar.violation(inFieldValue: field) == nil)
            let lines = JoinedSetCookies.lines(in: line)
            #expect(lines.joined(separator: ", ") == line)
            store.keep(fields(lines), from: address, of: .nobody, at: now)
        }
    }
}
