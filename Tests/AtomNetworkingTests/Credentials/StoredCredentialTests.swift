import Foundation
import Testing

@testable import AtomNetworking

@Suite("The stored form of a credential", .limited)
struct StoredCredentialTests {
    private func rewritten(_ stored: StoredCredential) throws -> StoredCredential {
        try StoredCredential(stored.encoded())
    }

    @Test("Every expiry reads back to the last bit")
    func expiry() throws {
        var random = SeededGenerator(seed: 7)
        var seconds = [0, -0.5, 811_692_800.1, .ulpOfOne, -.infinity, .infinity, .greatestFiniteMagnitude, 1e-300]
        seconds += (0..<2_000).map { _ in Double.random(in: 0...2e9, using: &random) }
        var dates = seconds.map { Date(timeIntervalSinceReferenceDate: $0) }
        dates += seconds.filter(\.isFinite).map { Date(timeIntervalSince1970: $0) }
        dates += [.distantFuture, .distantPast, Date()]
        let changed = try dates.filter { date in
            let credential = TokenCredential(accessToken: "a", expiresAt: date, refreshToken: "r")
            let read = try rewritten(StoredCredential(credential: credential)).credential
            return read != credential
                || read?.expiresAt.timeIntervalSinceReferenceDate.bitPattern
                    != date.timeIntervalSinceReferenceDate.bitPattern
        }
        #expect(changed == [])
    }

    @Test(
        "Every text reads back as it was",
        arguments: [
            "", "a", "\0\u{1}\n\r\t", "\"\\/", "é", "e\u{301}", "\u{2028}", "👩‍👩‍👧",
            String(repeating: "x", count: 200_000),
        ])
    func texts(text: String) throws {
        let credential = TokenCredential(
            accessToken: text, expiresAt: .distantFuture, refreshToken: text, scope: text, tokenType: text,
            idToken: text)
        let read = try #require(try rewritten(StoredCredential(credential: credential)).credential)
        #expect(read == credential)
        #expect(read.accessToken.utf8.elementsEqual(text.utf8))
        let bare = TokenCredential(accessToken: text, expiresAt: .distantFuture, refreshToken: "")
        #expect(try rewritten(StoredCredential(credential: bare)).credential == bare)
    }

    @Test("The format of version 1 hasn't changed")
    func format() throws {
        let credential = TokenCredential(
            accessToken: "a/b", expiresAt: Date(timeIntervalSinceReferenceDate: 811_692_800.25), refreshToken: "r",
            scope: "s", tokenType: "Bearer", idToken: "i")
        let text = """
            {"credential":{"access_token":"a/b","expires_from_2001":"811692800.25","id_token":"i",\
            "refresh_token":"r","scope":"s","token_type":"Bearer"},"version":1}
            """
        #expect(try String(decoding: StoredCredential(credential: credential).encoded(), as: UTF8.self) == text)
        #expect(try StoredCredential(Data(text.utf8)) == StoredCredential(credential: credential))
    }

    @Test("The authorization server is another member, which older versions ignore")
    func server() throws {
        let credential = TokenCredential(accessToken: "a", expiresAt: .distantFuture, refreshToken: "r")
        let text = """
            {"authorization_server":"https://auth.example.com:8443",\
            "credential":{"access_token":"a","refresh_token":"r"},"version":1}
            """
        let stored = StoredCredential(credential: credential, server: "https://auth.example.com:8443")
        #expect(try String(decoding: stored.encoded(), as: UTF8.self) == text)
        #expect(try StoredCredential(Data(text.utf8)) == stored)
    }

    @Test("What is no authorization server is never shown", arguments: ["7", "\"hunter2\"", "\"https://a b\"", "[]"])
    func noServer(member: String) {
        #expect {
            try StoredCredential(Data(#"{"version":1,"authorization_server":\#(member)}"#.utf8))
        } throws: { error in
            if case TokenStoreError.corrupt = error { true } else { false }
        }
    }

    @Test("Unknown members are ignored")
    func unknownMembers() throws {
        let text = """
            {"version":1,"later":[1],"credential":{"access_token":"a","later":{}},"refresh_begun":{"later":true}}
            """
        let expected = TokenCredential(accessToken: "a", expiresAt: .distantFuture, refreshToken: "")
        #expect(try StoredCredential(Data(text.utf8)) == StoredCredential(credential: expected))
    }

    @Test(
        "A newer version isn't reported as unreadable data", arguments: ["", #","credential":7"#, #","tokens":[]"#])
    func newer(members: String) {
        #expect(throws: TokenStoreError.newerFormat(version: 2)) {
            try StoredCredential(Data(#"{"version":2\#(members)}"#.utf8))
        }
    }

    @Test("A credential that could not be read again is not written")
    func tooLarge() {
        let credential = TokenCredential(
            accessToken: String(repeating: "x", count: 1 << 20), expiresAt: .distantFuture, refreshToken: "")
        #expect { try StoredCredential(credential: credential).encoded() } throws: { error in
            if case TokenStoreError.refused = error { true } else { false }
        }
    }

    @Test("A note tells tokens apart, is never the same twice, and holds nothing of the token")
    func intent() throws {
        let token = "refresh-hunter2"
        let note = RefreshIntent(refreshToken: token)
        #expect(note.concerns(token))
        for other in ["", "refresh-hunter", "refresh-hunter2 ", "Refresh-hunter2", "2retnuh-hserfer"] {
            #expect(!note.concerns(other))
        }
        #expect(note != RefreshIntent(refreshToken: token))
        #expect(RefreshIntent(refreshToken: "").concerns(""))
        let stored = StoredCredential(credential: nil, intent: note)
        #expect(try rewritten(stored) == stored)
        #expect(try !String(decoding: stored.encoded(), as: UTF8.self).contains("hunter2"))
    }
}
