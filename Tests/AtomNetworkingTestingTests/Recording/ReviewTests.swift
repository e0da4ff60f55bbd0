import AtomNetworking
import AtomNetworkingExports
import AtomNetworkingTesting
import Foundation
import Testing

@Suite(.limited) struct ReviewTests {
    typealias Kind = HTTPArchive.Review.Kind

    private func review(_ entries: String...) throws -> HTTPArchive.Review {
        try HTTPArchive(Data(#"{"log":{"entries":[\#(entries.joined(separator: ","))]}}"#.utf8)).review
    }

    private func entry(
        url: String = "https://api.example.com/x", requestHeaders: String = "", post: String = "", body: String = "{}",
        type: String = "application/json", status: Int = 200
    ) throws -> String {
        let text = try #require(String(data: JSONEncoder().encode(body), encoding: .utf8))
        let postText = try #require(String(data: JSONEncoder().encode(post), encoding: .utf8))
        return
            #"{"request":{"method":"GET","url":"\#(url)","headers":[\#(requestHeaders)],"postData":{"mimeType":"application/x-www-form-urlencoded","text":\#(postText)}},"#
            + #""response":{"status":\#(status),"content":{"size":\#(body.utf8.count),"mimeType":"\#(type)","text":\#(text)}}}"#
    }

    @Test(arguments: [
        #"{"access_token":"planted"}"#, #"{"a":[{"sessionId":"planted"}]}"#,
        #"{"a":"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl"}"#,
        #"{"a":"q7Hs82kLm4Zx91PvBn3TyR"}"#, #"{"a":"9f86d081884c7d659a2feaa0c55ad015"}"#,
        #"{"a":"sk_live_0123456789abcd"}"#, #"{"a":"-----BEGIN PRIVATE KEY-----"}"#,
        #"{"a":"https://h/?t=9f86d081884c7d659a2f0a11"}"#,
    ])
    func secretsAreFound(body: String) throws {
        let review = try review(try entry(body: body))
        #expect(review.findings(.secret).count == 1, "\(review)")
        #expect(review.findings(.secret).first?.place.hasPrefix("response body, ") == true)
        #expect(!review.description.contains("planted"))
        #expect(review.description.contains("Take these out"))
    }

    @Test(arguments: [
        #"{"email":"a@b.example"}"#, #"{"a":"Write to jo@example.com."}"#, #"{"a":"+49 170 1234567"}"#,
        #"{"a":"4111 1111 1111 1111"}"#, #"{"a":4111111111111111}"#, #"{"user":{"firstName":"Jo"}}"#, #"{"lat":52.5}"#,
        #"{"pnr":"ABC123"}"#,
    ])
    func personalDataIsFound(body: String) throws {
        let review = try review(try entry(body: body))
        #expect(review.findings(.personal).count == 1, "\(review)")
        #expect(review.findings(.secret).isEmpty, "\(review)")
    }

    @Test(arguments: [
        #"{"id":"3F2504E0-4F89-11D3-9A0C-0305E82C3301"}"#, #"{"date":"2026-11-23T10:00:00.000Z"}"#,
        #"{"title":"An unusually long title without any secret"}"#,
        #"{"path":"/seats/12A/upgrade-options-for-members"}"#,
        #"{"expires_in":3600,"token_type":"Bearer"}"#, #"{"total_tokens":12}"#, #"{"n":12345678901234567890}"#,
        #"{"a":"aaaaaaaaaaaaaaaaaaaaaaaa"}"#, #"{"hasPassword":true}"#, "[]", "plain text, 12 words",
    ])
    func harmlessTextIsLeftAlone(body: String) throws {
        let review = try review(try entry(body: body))
        #expect(review.findings.isEmpty, "\(review)")
        #expect(review.description.contains("read the file before you commit it"))
    }

    @Test func everyPlaceIsLookedAt() throws {
        let random = "9f86d081884c7d659a2feaa0c55ad015"
        let review = try review(
            try entry(
                url: "https://jo:planted@api.example.com/\(random)?api_token=planted",
                requestHeaders:
                    #"{"name":"Authorization","value":"Bearer planted"},{"name":"X-Trace","value":"\#(random)"},{"name":"ETag","value":"\#(random)"}"#,
                post: "user=jo%40example.com", body: "data: {\"x\":\"\(random)\"}\n\n", type: "text/event-stream"),
            try entry(url: "https://api.example.com/a?b=\(random)"))
        let places = review.findings(.secret).map(\.place)
        #expect(
            places == [
                "path", "URL", "query item api_token", "request header field Authorization",
                "request header field X-Trace", "response body", "query item b",
            ], "\(review)")
        #expect(review.findings(.personal).map(\.place) == ["request body, user"])
        #expect(!"\(review)".contains("planted") && !"\(review)".contains(random))
        #expect(review.origins == ["https://api.example.com"] && review.entryCount == 2)
    }

    @Test func equalFindingsAreOne() throws {
        let person = #"{"people":[{"email":"a@b.example"},{"email":"c@d.example"}]}"#
        let review = try review(
            try entry(body: person), try entry(), try entry(body: person), try entry(body: person),
            try entry(body: person), try entry(body: person), try entry(body: person))
        #expect(review.findings.count == 1)
        #expect(review.findings.first?.entries == [1, 3, 4, 5, 6, 7])
        #expect(
            review.findings.first?.description
                == "response body, people[].email: it has the form of an e-mail address (entries 1, 3, 4, 5, 6 and 1 more)"
        )
    }

    @Test func whatIsHiddenOrUnreadIsSaid() async throws {
        let recorder = HARRecorder(showing: .allButCredentials, responseBodiesUpTo: 100)
        let (atom, wire) = Atom.scripted(
            .json(text: #"{"session":{"id":1},"n":1}"#),
            .data(Data([0xFF]), headerItems: ["Content-Type": "image/png"]),
            .data(Data(count: 101)), .unauthorized()
        ) { $0.observers = [recorder] }
        for _ in 0..<4 { _ = try? await atom.enqueue(Call()).resume() }
        try wire.verify()
        let review = try HTTPArchive(await wire.recorded(by: recorder)).review
        #expect(review.findings.map(\.kind) == [.unread, .hidden, .unanswerable], "\(review)")
        #expect(review.findings.map(\.place) == ["response body", "response body, session", "response body"])
        #expect(review.findings.map(\.entries) == [[2], [1], [3]])
    }
}
