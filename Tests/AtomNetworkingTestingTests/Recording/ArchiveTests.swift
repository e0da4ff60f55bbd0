import AtomNetworking
import AtomNetworkingExports
import AtomNetworkingTesting
import Foundation
import Testing

@Suite(.limited) struct ArchiveTests {
    private static func file(_ entry: String) -> Data { Data(#"{"log":{"entries":[\#(entry)]}}"#.utf8) }

    private static func entry(
        method: String = "GET", url: String = "https://api.example.com/x", request: String = "",
        response: String = #""content":{"text":"a"}"#
    ) -> String {
        #"{"request":{"method":"\#(method)","url":"\#(url)"\#(request)},"response":{"status":200,\#(response)}}"#
    }

    @Test(arguments: [
        ("", "it isn't valid JSON"), ("[]", "isn't of the type"), (#"{"log":{}}"#, "log.entries is missing"),
        (
            #"{"log":{"entries":[{"request":{"url":"https://a/"},"response":{"status":200}}]}}"#,
            "log.entries[0].request.method is missing"
        ),
        (
            #"{"log":{"entries":[{"request":{"method":"GET","url":"planted secret"},"response":{"status":200}}]}}"#,
            "log.entries[0].request.url isn't a URL"
        ),
        (
            #"{"log":{"entries":[{"request":{"method":"GET","url":"https://a/"},"response":{"status":"planted secret"}}]}}"#,
            "log.entries[0].response.status isn't of the type Int"
        ),
    ])
    func whatIsNoArchiveIsRefused(text: String, reason: String) throws {
        let error = #expect(throws: HTTPArchiveError.self) { try HTTPArchive(Data(text.utf8)) }
        #expect(error?.description.contains(reason) == true, "\(String(describing: error))")
        #expect(error?.description.contains("planted") == false)
    }

    @Test func aFileThatIsMissingIsRefused() {
        let error = #expect(throws: HTTPArchiveError.self) {
            try HTTPArchive(contentsOf: URL(fileURLWithPath: "/none/requests.har"))
        }
        #expect(error?.description == "The file requests.har can't be read.")
    }

    @Test func aFileOfABrowserIsRead() async throws {
        // With what Chromium writes and this library doesn't need.
        let text = #"""
            {"log":{"version":"1.2","creator":{"name":"WebInspector","version":"537.36"},"pages":[],"entries":[
            {"_connectionId":"71","_resourceType":"fetch","cache":{},"request":{"method":"POST",
            "url":"https://api.example.com/x?b=2&a=1","httpVersion":"h2","headers":[{"name":":authority","value":"a"}],
            "queryString":[],"postData":{"mimeType":"application/x-www-form-urlencoded","text":"","params":[
            {"name":"q","value":"a b"}]},"bodySize":5},"response":{"status":200,"statusText":"","httpVersion":"h2",
            "headers":[{"name":"content-encoding","value":"br"},{"name":"content-length","value":"9"},
            {"name":"x-a","value":"b"}],"content":{"size":2,"mimeType":"text/plain","text":"aGk=","encoding":"base64"},
            "redirectURL":""},"time":1.5,"connection":443},
            {"request":{"method":"GET","url":"https://api.example.com/lost"},"response":{"status":0}}]}}
            """#
        let archive = try HTTPArchive(Data([0xEF, 0xBB, 0xBF]) + Data(text.utf8))
        try await Atom.withScript { atom, wire in
            wire.replay(archive)
            let response = try await atom.enqueue(
                Call(method: .post, queryItems: ["a": "1", "b": "2"], body: .form(["q": "a b"]))
            ).resume()
            #expect(response.data == Data("hi".utf8))
            #expect(response.headerFields.map(\.name) == ["content-length", "x-a"])
            #expect(response.headerFields["content-length"] == "2")
            let error = await #expect(throws: AtomError.self) { try await atom.enqueue(Call(route: "/lost")).resume() }
            #expect(error?.isConnectivityFailure == true)
        }
    }

    @Test(arguments: [
        ("https://api.example.com/HIDDEN", true), ("https://api.example.com/x?n=HIDDEN", true),
        ("https://API.example.com:443/%78?n=1", true), ("https://api.example.com/x?n=2", false),
        ("https://api.example.com/x%2F?n=1", false), ("https://api.example.com:8443/x?n=1", false),
        ("http://api.example.com/x?n=1", false), ("https://api.example.com/x?n=HIDDEN&n=1", false),
    ])
    func aURLIsCompared(url: String, isEqual: Bool) async throws {
        let (atom, wire) = Atom.scripted()
        wire.replay(try HTTPArchive(Self.file(Self.entry(url: url))), mustUseAll: false)
        let query: [QueryItem] = url.hasSuffix("HIDDEN") && !url.contains("?") ? [] : ["n": "1"]
        let status = try? await atom.enqueue(Call(queryItems: query)).resume().statusCode
        #expect((status == 200) == isEqual)
        try? wire.verify()
    }

    @Test(arguments: [
        (#"{"a":[1,{"b":"c"}],"d":null}"#, #"{"d":null, "a":[1.0,{"b":"c"}]}"#, ""),
        (#"{"a":"HIDDEN"}"#, #"{"a":{"b":1}}"#, ""), (#"{"a":"x HIDDEN y"}"#, #"{"a":"x 1 y"}"#, ""),
        (#"{"a":"x HIDDEN y"}"#, #"{"a":"x 1"}"#, "a"), (#"{"a":1}"#, #"{"a":"1"}"#, "a"),
        (#"{"a":1}"#, #"{"a":true}"#, "a"), (#"{"a":false}"#, #"{"a":0}"#, "a"), (#"{"a":true}"#, #"{"a":true}"#, ""),
        (#"{"a":{"b":1}}"#, #"{"a":{"b":2}}"#, "a.b"), (#"[1,2]"#, #"[1]"#, "[1]"), (#"[1]"#, #"[1,2]"#, "[1]"),
        (#"{"a":1}"#, #"{"a":1,"b":2}"#, "b"), (#"{"a":1}"#, #"[1]"#, "its beginning"),
    ])
    func jsonIsComparedByItsValues(recorded: String, sent: String, place: String) async throws {
        let quoted = try #require(String(data: JSONEncoder().encode(recorded), encoding: .utf8))
        let request = #","postData":{"mimeType":"application/json","text":\#(quoted)}"#
        let (atom, wire) = Atom.scripted()
        wire.replay(try HTTPArchive(Self.file(Self.entry(method: "POST", request: request))), mustUseAll: false)
        let call = Call(method: .post, body: .data(Data(sent.utf8), contentType: "application/json"))
        if place.isEmpty {
            try await atom.enqueue(call).resume()
        } else {
            let error = await #expect(throws: AtomError.self) { try await atom.enqueue(call).resume() }
            #expect(
                error?.description.contains("the body differs at \(place))") == true, "\(String(describing: error))")
        }
        try? wire.verify()
    }

    @Test(arguments: [
        (#""bodySize":1234"#, nil as String?), (#""content":{"size":-1}"#, nil), (#""content":{}"#, nil),
        (#""content":{"text":"abc!","encoding":"base64","size":0}"#, nil), (#""content":{"size":0}"#, ""),
        (#""bodySize":0"#, ""), (#""content":{"text":"YWJj\nZGVm","encoding":"base64"}"#, "abcdef"),
    ])
    func anUnknownBodyIsNotTakenForAnEmptyOne(response: String, text: String?) async throws {
        let archive = try HTTPArchive(Self.file(Self.entry(response: response)))
        #expect(archive.review.findings(.unanswerable).isEmpty == (text != nil))
        let (atom, wire) = Atom.scripted()
        wire.replay(archive)
        let body = try? await atom.enqueue(Call()).resume().data
        #expect(body == text.map { Data($0.utf8) })
        try? wire.verify()
    }

    @Test func strangeURLsAreReviewed() throws {
        for url in ["https://\u{0301}@x/?u=http://y", "https://x/@?u=http://y", "https://user@x/"] {
            guard let archive = try? HTTPArchive(Self.file(Self.entry(url: url))) else { continue }
            #expect(archive.review.findings(.secret).contains { $0.place == "URL" } == url.contains("user"))
        }
    }

    @Test func formsAndMultipartBodiesAreComparedByWhatTheySay() async throws {
        let form = Call(method: .post, body: .form(["password": "planted", "b": "2"]))
        var content = MultipartForm()
        content.append("text", name: "a")
        // A small file whose bytes aren't text.
        content.append(Data([0xFF, 0x00, 0x80]), name: "file", fileName: "a.bin", contentType: "application/x-test")
        let parts = Call(method: .put, body: .multipart(content))
        let recorder = HARRecorder(showing: .allButCredentials, responseBodiesUpTo: 1_000)
        let (recorded, script) = Atom.scripted(.text("a"), .text("b")) { $0.observers = [recorder] }
        for call in [form, parts] { try await recorded.enqueue(call).resume() }
        try script.verify()
        let har = await script.recorded(by: recorder)
        #expect(!String(decoding: har, as: UTF8.self).contains("planted"))
        try await Atom.withScript { atom, wire in
            wire.replay(try HTTPArchive(har))
            // Its boundary is another one.
            try await atom.enqueue(parts).resume()
            try await atom.enqueue(form).resume()
        }
    }
}
