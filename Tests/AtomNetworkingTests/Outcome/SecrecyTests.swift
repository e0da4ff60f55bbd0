import AtomNetworkingTesting
import Foundation
import Testing

@testable import AtomNetworking

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// G13: nothing of a credential, a query value or a body is printed.
@Suite("No error shows a secret, however it is printed", .limited)
struct SecrecyTests {
    private static let secret = "hunter2"

    private static func expectSilence(_ error: AtomError, location: SourceLocation = #_sourceLocation) {
        expectNone(of: everyRendering(of: error), toContain: secret, location: location)
        if case .requestable(let requestable) = error {
            expectNone(
                of: everyRendering(of: requestable) + everyRendering(of: requestable.violation), toContain: secret,
                location: location)
        }
    }

    private static func error<T>(of body: () throws(AtomError) -> T) throws -> AtomError {
        do {
            _ = try body()
        } catch {
            return error
        }
        throw Accepted()
    }

    private struct Accepted: Error {}

    @Test(
        "An error about a host doesn't show its user information, query or fragment",
        arguments: [
            "user:hunter2@api.example.com", "https://user:hunter2@api.example.com", "user:hunter2@api.example.com/v1",
            "https://user:hun/hunter2@api.example.com", "user:p@hunter2/x@api.example.com",
            "user:hunter2//x@api.example.com",
            "user:?hunter2@api.example.com", "hunter2@api.example.com", "api.example.com?token=hunter2",
            "api.example.com/v1?a=b&token=hunter2", "api.example.com#access_token=hunter2",
            "https://api.example.com/?token=hunter2#hunter2",
        ])
    func host(_ host: String) throws {
        Self.expectSilence(try Self.error { () throws(AtomError) in try BaseURL(host: host) })
    }

    @Test(
        "An error about a path doesn't show its user information, query or fragment",
        arguments: [
            "/v1?token=hunter2", "/v1?a=b&api_key=hunter2", "/v1#access_token=hunter2", "/v1?a#hunter2",
            "https://user:hunter2@api.example.com/v1", "https://api.example.com/v1?token=hunter2", "v1?hunter2",
        ])
    func path(_ path: String) throws {
        Self.expectSilence(try Self.error { () throws(AtomError) in try URLPath(path) })
    }

    @Test(
        "An error about a header field doesn't show a token in its value or name",
        arguments: [
            HeaderItem(name: "Authorization", value: "Bearer hunter2\r\n"),
            HeaderItem(name: "Authorization", value: "hunter2\0"), HeaderItem(name: "Host", value: "hunter2\n"),
            HeaderItem(name: "Authorization: Bearer hunter2", value: ""),
            HeaderItem(name: "Bearer hunter2", value: "Authorization"),
            HeaderItem(name: "Cookie:hunter2", value: ""), HeaderItem(name: "X-Api-Key=hunter2", value: ""),
        ])
    func header(_ item: HeaderItem) throws {
        let endpoint = RecordingEndpoint(headerItems: [item])
        Self.expectSilence(
            try Self.error { () throws(AtomError) in try PreparedRequest(endpoint, timeout: ServiceTimeout()) })
        expectNone(of: everyRendering(of: HeaderItem(name: "X", value: "hunter2")), toContain: "hunter2")
    }

    @Test("An error about a refused credential doesn't show the password in either part")
    func credential() throws {
        for credential in [
            BasicCredential(password: "hunter2", username: "a:hunter2"),
            BasicCredential(password: "hunter2\n", username: "hunter2"),
            BasicCredential(password: "hunter2", username: "\thunter2"),
        ] {
            Self.expectSilence(try Self.error { () throws(AtomError) in try credential.authorization() })
        }
    }

    @Test("An error with a response doesn't show its body, header values or query")
    func response() {
        Self.expectSilence(
            .response(
                AtomResponse(
                    data: Data("hunter2".utf8), statusCode: 401,
                    headerFields: HeaderFields([
                        .init(name: "Set-Cookie", value: "s=hunter2"),
                        .init(name: "WWW-Authenticate", value: "Bearer hunter2"),
                    ]), url: URL(string: "https://u:hunter2@a.example/?t=hunter2"))))
    }

    @Test("An error doesn't show a credential or a cookie that the server repeats", arguments: [200, 401, 404])
    func repeated(status: Int) async throws {
        struct Page: Requestable {
            var headerItems: [HeaderItem]?
            var queryItems: [QueryItem]?
            func baseURL() throws(AtomError) -> BaseURL { try BaseURL(host: "a.example") }
        }
        let token = TokenCredential(accessToken: "hunter2", expiresAt: .distantFuture, refreshToken: "")
        let endpoint = try AuthorizationEndpoint(host: "auth.example", path: "/token")
        for (method, items) in [
            (AuthenticationMethod.basic(BasicCredential(password: "hunter2", username: "someone")), nil),
            (.bearer(endpoint, ClientCredential(id: "app"), InMemoryTokenCredentialStore(token)), nil),
            (.none, [HeaderItem(name: "Authorization", value: "Key hunter2")]),
            (.none, [HeaderItem(name: "Cookie", value: "a=b; s=hunter2")]),
            (.none, [HeaderItem(name: "X-Api-Key", value: "hunter2")]),
            (.none, nil),
        ] {
            let (atom, _) = Atom.scripted(
                .text("nobody called hunter2 lives here", status: status),
                configure: { $0.authenticationMethod = method })
            let query = items == nil ? [QueryItem(name: "q", value: "hunter2")] : nil
            let call = atom.enqueue(Page(headerItems: items, queryItems: query))
            let error = try #require(
                await #expect(throws: AtomError.self) { try await call.resume(expecting: Int.self) })
            Self.expectSilence(error)
            #expect(status != 404 || error.description.contains("nobody called … lives here"), "\(error)")
        }
    }

    @Test("An error doesn't show words of a server that may repeat a secret unknown to the SDK")
    func repeatedUnknown() async throws {
        struct Page: Requestable {
            var text = "/x"
            var method = HTTPMethod.get
            var body: RequestBody?
            var acceptableStatusCodes = 200...299
            func baseURL() throws(AtomError) -> BaseURL { try BaseURL(host: "a.example") }
            func path() throws(AtomError) -> URLPath { try URLPath(text) }
        }
        let words = "nobody called hunter2 lives here"
        let moved = ScriptedResponse.status(307, headerItems: ["Location": "https://b.example/y"])
        let form = RequestBody.form([QueryItem(name: "password", value: "hunter2")])
        var parts = MultipartForm()
        parts.append("hunter2", name: "password")
        for (endpoint, answers) in [
            (Page(), [moved, .text(words, status: 404)]), (Page(), [.text(words, status: 407)]),
            (Page(method: .post, body: .multipart(parts)), [.text(words, status: 404)]),
            (Page(text: "/x;v=hunter2"), [.text(words, status: 404)]),
            (Page(method: .post, body: form), [.text(words, status: 404)]),
            (Page(method: .post, body: .json(["password": "hunter2"])), [.text(words, status: 404)]),
        ] {
            let basic = AuthenticationMethod.basic(BasicCredential(password: "hunter2", username: "someone"))
            let (atom, wire) = Atom.scripted(
                configure: { $0.authenticationMethod = answers.count > 1 ? basic : .none })
            for answer in answers { wire.add(answer) }
            let call = atom.enqueue(endpoint)
            let error = try #require(await #expect(throws: AtomError.self) { try await call.resume() })
            Self.expectSilence(error)
        }
        let (atom, _) = Atom.scripted(.text(words, status: 404))
        let response = try await atom.enqueue(Page(text: "/x;v=hunter2", acceptableStatusCodes: 200...499)).resume()
        Self.expectSilence(AtomError.response(response))
    }

    @Test("A stream's iterator that is printed shows no secret")
    func iterator() async throws {
        let (atom, _) = Atom.scripted(
            .events(["a"]),
            configure: {
                $0.authenticationMethod = .basic(BasicCredential(password: "hunter2", username: "someone"))
            })
        let stream = try await atom.enqueue(PathEndpoint()).serverSentEvents()
        var dumped = ""
        dump(stream.makeAsyncIterator(), to: &dumped)
        let encoded = Data("someone:hunter2".utf8).base64EncodedString()
        #expect(!dumped.contains(encoded) && !dumped.contains("hunter2"))
    }

    @Test("An error shows neither the URL that Foundation notes in it nor a transport's own text")
    func session() throws {
        struct Chatty: Error, CustomStringConvertible, LocalizedError {
            var description: String { "hunter2" }
            var errorDescription: String? { "hunter2" }
        }
        let address = "https://u:hunter2@a.example/?token=hunter2"
        let noted = URLError(
            .timedOut,
            userInfo: [
                NSURLErrorFailingURLErrorKey: try #require(URL(string: address)),
                "NSErrorFailingURLStringKey": address,
            ])
        Self.expectSilence(.session(noted))
        Self.expectSilence(.session(Chatty()))
        for error in [TransportFailure(noted), TransportFailure(Chatty())] {
            Self.expectSilence(.session(error.urlError(delivery: .maybeSent)))
        }
    }

    private static func below(_ error: any Error) -> NSError? {
        ((error as NSError).userInfo[NSUnderlyingErrorKey] as? any Error).map { $0 as NSError }
    }

    @Test("Underlying errors show no secret to apps that print the payload of a case")
    func underlying() throws {
        let address = "https://u:hunter2@a.example/?hunter2"
        let notes: [String: Any] = [
            NSURLErrorFailingURLErrorKey: try #require(URL(string: address)), "NSErrorFailingURLStringKey": address,
            NSLocalizedDescriptionKey: "GET \(address) failed", "at": address,
        ]
        let lowest = NSError(domain: "kCFErrorDomainCFNetwork", code: -1001, userInfo: notes)
        let middle = NSError(
            domain: NSPOSIXErrorDomain, code: 54, userInfo: notes.merging([NSUnderlyingErrorKey: lowest]) { $1 })
        let noted = URLError(.timedOut, userInfo: notes.merging([NSUnderlyingErrorKey: middle]) { $1 })

        for error: any Error in [noted, middle] {
            for secure in [true, false] {
                let failure = WireFailure(error: error, hasResponse: false, isSecure: secure).transportFailure
                let found = failure.urlError(delivery: .maybeSent)
                expectNone(of: everyRendering(of: found) + everyRendering(of: failure), toContain: "hunter2")
                #expect(Self.below(found) != nil)
            }
        }
        let own = TransportFailure(noted).urlError(delivery: .maybeSent)
        expectNone(of: everyRendering(of: own), toContain: "hunter2")
        let posix = try #require(Self.below(own))
        #expect(posix.code == 54)
        #expect(Self.below(posix)?.code == -1001)

        #expect(own.localizedDescription == "GET https://…@a.example/?… failed")

        let chatty = URLError(.badURL, userInfo: [NSLocalizedDescriptionKey: "GET \(address) failed"])
        Self.expectSilence(.session(chatty))
        #expect(AtomError.session(chatty).description == "GET https://…@a.example/?… failed.")
    }

    private enum Cabin: String, Codable { case first }
    private struct Passenger: Decodable {
        var cabin: Cabin?
        var row: Int8?
        var id: UUID?
        var site: URL?
        var born: Date?
        var bag: Bag?
    }
    private struct Bag: Decodable {
        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            let tag = try container.decode(String.self)
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "no bag has the tag \(tag)")
        }
    }
    private struct Refusing: Decodable {
        struct Secretive: Error { var text: String }
        init(from decoder: any Decoder) throws {
            throw Secretive(text: try decoder.singleValueContainer().decode(String.self))
        }
    }

    @Test(
        "An error doesn't show the values of a body that could not be decoded",
        arguments: [
            #"{"cabin":"hunter2"}"#, #"{"cabin":["hunter2"]}"#, #"{"row":"hunter2"}"#, #"{"row":31337}"#,
            #"{"id":"hunter2"}"#, #"{"site":"http://[hunter2"}"#, #"{"born":"hunter2"}"#, #"{"bag":"hunter2"}"#,
            "hunter2", #"{"cabin":hunter2}"#, #"{"cabin":"hunter2"#, #"["hunter2"]"#, "<html>hunter2</html>",
            #"{"row":31337e999}"#, #"{"cabin":"\hunter2"}"#,
        ])
    func decoding(_ body: String) throws {
        let response = AtomResponse(data: Data(body.utf8), statusCode: 200)
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        let error = try Self.error { () throws(AtomError) in
            try ResponseDecoder.decode(Passenger.self, from: response, with: decoder)
        }
        Self.expectSilence(error)
        #expect(!error.description.contains("31337"))
        // Apps print the payload of a case too.
        guard case .decoder(let cause) = error else { throw Accepted() }
        #expect(!"\(cause)".contains("hunter2"))
        #expect(!"\(cause)".contains("31337"))
    }

    @Test(
        "A key that echoes a token is hidden in the outline and in the place of an error",
        arguments: [
            #"{"4eC39HqLyjWDarjtT1zdp7dc":"x"}"#, #"{"seats":1,"4eC39HqLyjWDarjtT1zdp7dc":{"a":1}}"#,
            #"{"4eC39HqLyjWDarjtT1zdp7dc":null}"#, #"{"\u0034eC39HqLyjWDarjtT1zdp7dc":"x"}"#,
        ])
    func key(_ body: String) throws {
        let response = AtomResponse(data: Data(body.utf8), statusCode: 200)
        let error = try Self.error { () throws(AtomError) in
            try ResponseDecoder.decode([String: Int].self, from: response, with: JSONDecoder())
        }
        guard case .decoder(let cause) = error else { throw Accepted() }
        expectNone(of: everyRendering(of: error) + everyRendering(of: cause), toContain: "jtT1zdp")
        // An error that the SDK didn't create is hidden as well.
        let foreign = DecodingError.dataCorrupted(
            .init(codingPath: [TextKey("4eC39HqLyjWDarjtT1zdp7dc")], debugDescription: "no 4eC39HqLyjWDarjtT1zdp7dc"))
        expectNone(of: everyRendering(of: AtomError.decoder(foreign)), toContain: "jtT1zdp")
    }

    private struct TextKey: CodingKey {
        var stringValue: String
        var intValue: Int? { nil }
        init(_ text: String) { stringValue = text }
        init?(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    /// Throws each of the standard errors with the value that it found.
    private struct Quoting: Decodable {
        init(from decoder: any Decoder) throws {
            let text = try decoder.singleValueContainer().decode(String.self)
            let context = DecodingError.Context(codingPath: [], debugDescription: "There was \(text).")
            switch text.first {
            case "1": throw DecodingError.typeMismatch(Int.self, context)
            case "2": throw DecodingError.valueNotFound(Int.self, context)
            case "3": throw DecodingError.keyNotFound(TextKey("row"), context)
            default: throw DecodingError.dataCorrupted(context)
            }
        }
    }

    @Test("A model's own decoding error doesn't show the value in its text", arguments: ["1", "2", "3", "4"])
    func quotingModel(kind: String) throws {
        let response = AtomResponse(data: Data("\"\(kind)hunter2\"".utf8), statusCode: 200)
        let error = try Self.error { () throws(AtomError) in
            try ResponseDecoder.decode(Quoting.self, from: response, with: JSONDecoder())
        }
        Self.expectSilence(error)
        guard case .decoder(let cause) = error else { throw Accepted() }
        expectNone(of: everyRendering(of: cause), toContain: "hunter2")
    }

    @Test("An error of another type that a model throws is named, and its value isn't shown")
    func foreignError() throws {
        let response = AtomResponse(data: Data(#""hunter2""#.utf8), statusCode: 200)
        let error = try Self.error { () throws(AtomError) in
            try ResponseDecoder.decode(Refusing.self, from: response, with: JSONDecoder())
        }
        Self.expectSilence(error)
        #expect(error.description.contains("Secretive"))
    }
}
