import Foundation
import Testing

@testable import AtomNetworking

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// G13: nothing of a credential, a query value or a body is printed.
@Suite("No error shows a secret, however it is printed", .timeLimit(.minutes(5)))
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
        "User information, a query and a fragment in a host",
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
        "A query, a fragment and user information in a path",
        arguments: [
            "/v1?token=hunter2", "/v1?a=b&api_key=hunter2", "/v1#access_token=hunter2", "/v1?a#hunter2",
            "https://user:hunter2@api.example.com/v1", "https://api.example.com/v1?token=hunter2", "v1?hunter2",
        ])
    func path(_ path: String) throws {
        Self.expectSilence(try Self.error { () throws(AtomError) in try URLPath(path) })
    }

    @Test(
        "A token in a header's value, or where the name should be",
        arguments: [
            HeaderItem(name: "Authorization", value: "Bearer hunter2\r\n"),
            HeaderItem(name: "Authorization", value: "hunter2\0"), HeaderItem(name: "Host", value: "hunter2"),
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

    @Test("A password, in either part of a credential that is refused")
    func credential() throws {
        for credential in [
            BasicCredential(password: "hunter2", username: "a:hunter2"),
            BasicCredential(password: "hunter2\n", username: "hunter2"),
            BasicCredential(password: "hunter2", username: "\thunter2"),
        ] {
            Self.expectSilence(try Self.error { () throws(AtomError) in try credential.authorization() })
        }
    }

    @Test("What a service keeps, while and after it refreshes")
    func service() async throws {
        let basic = Atom(
            serviceConfiguration: ServiceConfiguration(
                authenticationMethod: .basic(BasicCredential(password: "hunter2", username: "ada"))))
        let encoded = Data("ada:hunter2".utf8).base64EncodedString()
        expectNone(of: everyRendering(of: basic), toContain: encoded)
        expectNone(of: everyRendering(of: basic.enqueue(PathEndpoint())), toContain: encoded)

        let session = try SessionFixture(lifetime: 0)
        let task = session.atom.enqueue(PathEndpoint()).resume { _ in }
        await session.refresh().answer(#"{"access_token":"A1hunter2","refresh_token":"hunter2"}"#)
        _ = await session.transport.exchange(1)
        expectNone(of: everyRendering(of: session.atom), toContain: "\"A0\"")
        expectNone(of: everyRendering(of: session.atom), toContain: "hunter2")
        expectNone(of: everyRendering(of: task), toContain: "hunter2")
        expectNone(of: everyRendering(of: task), toContain: "\"A0\"")
    }

    @Test("Body, header values and query of an answer")
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

    @Test("The URL that Foundation notes in an error, and an error of a transport's own")
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
        "Values of a body that could not be decoded",
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
            try ResponseDecoding.decode(Passenger.self, from: response, with: decoder)
        }
        Self.expectSilence(error)
        #expect(!error.description.contains("31337"))
        // Apps print what they match as well.
        guard case .decoder(let cause) = error else { throw Accepted() }
        #expect(!"\(cause)".contains("hunter2"))
        #expect(!"\(cause)".contains("31337"))
    }

    @Test("What a model throws by itself")
    func foreignError() throws {
        let response = AtomResponse(data: Data(#""hunter2""#.utf8), statusCode: 200)
        let error = try Self.error { () throws(AtomError) in
            try ResponseDecoding.decode(Refusing.self, from: response, with: JSONDecoder())
        }
        Self.expectSilence(error)
        #expect(error.description.contains("Secretive"))
    }

    @Test("What a request is made of")
    func requests() throws {
        let base = try BaseURL(host: "a.example")
        let request = try TransportRequest(
            method: "POST", base: base, path: URLPath("/x"), queryItems: ["token": "hunter2"],
            headerFields: HeaderFields([.init(name: "Authorization", value: "hunter2")]), body: Data("hunter2".utf8))
        let renderings =
            everyRendering(of: request) + everyRendering(of: request.target)
            + everyRendering(of: QueryItem(name: "a", value: "hunter2"))
            + everyRendering(of: RequestBody.form(["a": "hunter2"]))
            + everyRendering(of: RequestBody.json("hunter2"))
            + everyRendering(of: HTTPMethod.post(Data("hunter2".utf8)))
        expectNone(of: renderings, toContain: "hunter2")
        #expect(request.description == "POST https://a.example/x?token=…")
    }
}
