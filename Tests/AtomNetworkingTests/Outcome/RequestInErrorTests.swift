import AtomNetworkingTesting
import Foundation
import Testing

@testable import AtomNetworking

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite("Every error says which request it is about", .limited)
struct RequestInErrorTests {
    private struct Endpoint: Requestable {
        let queryItems: [QueryItem]? = [QueryItem(name: "from", value: "hunter2")]
        let requiresAuthorization = false
        func baseURL() throws(AtomError) -> BaseURL { try BaseURL(host: "api.example.com") }
        func path() throws(AtomError) -> URLPath { try URLPath("/v1/flights") }
    }

    private struct Refusal: Error {}

    private struct Picky: Model {
        init(from decoder: any Decoder) throws { throw Refusal() }
        func encode(to encoder: any Encoder) {}
    }

    private static let url = "https://api.example.com/v1/flights?from=…"

    private func error(
        _ answer: ScriptedResponse, _ send: @Sendable (Service) async throws -> Void
    ) async throws -> AtomError {
        try await Atom.withScript(answer) { atom, _ in
            do {
                try await send(atom.enqueue(Endpoint()))
            } catch let error as AtomError {
                return error
            }
            throw Unexpected("there was no error")
        }
    }

    private func expectNamed(
        _ error: AtomError, _ words: String, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        #expect(
            error.description.hasPrefix("GET \(Self.url): \(words)"), "\(error)", sourceLocation: sourceLocation)
        #expect(error.request?.method == "GET" && error.request?.url == Self.url, sourceLocation: sourceLocation)
        #expect(error.request?.attempts == 1, sourceLocation: sourceLocation)
        let noted = (error as NSError).userInfo["AtomNetworking.request"] as? [String: Any]
        #expect(noted?["url"] as? String == Self.url, sourceLocation: sourceLocation)
        #expect(!"\(error) \((error as NSError).userInfo)".contains("hunter2"), sourceLocation: sourceLocation)
    }

    @Test("An error names its request, whatever fails and however it is asked for")
    func kinds() async throws {
        expectNamed(try await error(.status(404)) { try await $0.resume() }, "the server answered HTTP 404")
        expectNamed(
            try await error(.failure(.cannotFindHost)) { try await $0.resume() }, "no server with this name")
        expectNamed(
            try await error(.json(text: "{}")) { _ = try await $0.resume(expecting: [Int].self) },
            "the response could not be decoded")
        expectNamed(
            try await error(.json(text: "{}")) { _ = try await $0.resume().decode([Int].self) },
            "the response could not be decoded")
        expectNamed(
            try await error(.json(text: "{}\n")) { service in
                for try await _ in try await service.jsonLines(of: Int.self) {}
            }, "the response could not be decoded")
        expectNamed(
            try await error(.text("long line")) { service in
                for try await _ in try await service.lines(maximumLineLength: 4) {}
            }, "a line of the response")
        expectNamed(
            try await error(.text("no events")) { _ = try await $0.serverSentEvents() }, "the server sent no stream")
    }

    @Test("A download without a place is named, although it was not sent")
    func unsent() async throws {
        let (atom, wire) = Atom.scripted()
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID())/no-folder")
        await #expect {
            try await atom.enqueue(Endpoint()).download(to: file)
        } throws: { error in
            guard let error = error as? AtomError else { return false }
            return error.description.hasPrefix("GET \(Self.url): the destination") && error.request?.attempts == 0
        }
        try wire.verify()
    }

    @Test("An error of the model's own stays where apps look for it, and the text names the request")
    func modelsOwn() async throws {
        let error = try await error(.json(text: "{}")) { _ = try await $0.resume(expecting: Picky.self) }
        guard case .decoder(.dataCorrupted(let context)) = error else { throw Unexpected("\(error)") }
        #expect(context.underlyingError is Refusal)
        expectNamed(error, "the response could not be decoded: The model threw Refusal")
    }

    @Test("After a redirect both URLs are named, and the method that was asked for")
    func redirected() async throws {
        let error = try await Atom.withScript(
            .status(
                303, headerItems: [HeaderItem(name: "Location", value: "https://other.example.com/login?token=hunter2")]
            ), .status(500)
        ) { atom, _ in
            do throws(AtomError) {
                try await atom.enqueue(Endpoint()).resume()
            } catch {
                return error
            }
            throw Unexpected("there was no error")
        }
        #expect(error.request?.redirectedURL == "https://other.example.com/login?token=…")
        #expect(error.request?.attempts == 2)
        #expect(
            error.description.hasPrefix(
                "GET \(Self.url), redirected to https://other.example.com/login?token=…: the server answered HTTP 500"))
    }

    @Test("An error that isn't about one request has none")
    func none() {
        for error in [AtomError.unexpected, .cancelled(.notSent), .requestable(.invalidURL), .session(Refusal())] {
            #expect(error.request == nil && error.description == error.explanation)
        }
    }

    @Test("A property list can hold what an NSError has of the request")
    func archived() throws {
        let request = AtomError.Request(
            method: "GET", address: "https://a.example/x?y=1", finalAddress: "https://b.example/", attempts: 2,
            duration: .milliseconds(1_500))
        let data = try PropertyListSerialization.data(
            fromPropertyList: request.propertyList, format: .binary, options: 0)
        let read = AtomError.Request(
            propertyList: try PropertyListSerialization.propertyList(from: data, format: nil))
        #expect(read?.description == request.description)
        #expect(read?.attempts == 2 && read?.duration == .milliseconds(1_500))
    }

    @Test("Equal attempts are counted")
    func counted() {
        func text(_ earlier: [AttemptFailure]) -> String {
            let request = AtomError.Request(
                method: "GET", address: "https://a.example/", finalAddress: nil, attempts: 1, duration: .zero)
            return AtomError.response(AtomResponse(statusCode: 503)).noting(request, earlier: earlier).description
        }
        #expect(text([.status(503), .status(503)]).hasSuffix("There were 3 attempts."))
        #expect(
            text([.status(500), .connection(.timedOut), .status(500)]).hasSuffix(
                "There were 4 attempts; before the last one: HTTP 500 Internal Server Error, 2 times; a timeout."))
    }

    @Test("A transfer that has failed after equal attempts has not met the same")
    func transferAfterAttempts() {
        let request = AtomError.Request(
            method: "GET", address: "https://a.example/", finalAddress: nil, attempts: 3, duration: .zero)
        let error = AtomError.transfer(TransferError(.noSpace, "The disk is full.", delivery: .answered))
            .noting(request, earlier: [.status(503), .status(503)])
        #expect(
            error.description.hasSuffix(
                "There were 3 attempts; before the last one: HTTP 503 Service Unavailable, 2 times."))
    }

    @Test("The words of a server are shown where they can be no secret")
    func words() {
        func text(_ type: String, _ body: String) -> String {
            let fields = HeaderFields([.init(name: "Content-Type", value: type)])
            return AtomError.response(AtomResponse(data: Data(body.utf8), statusCode: 400, headerFields: fields))
                .description
        }
        #expect(text("application/problem+json", #"{"title":"No\nseat left"}"#).hasSuffix(": “No seat left”."))
        #expect(text("text/plain", "No seat\nleft").hasSuffix(": “No seat left”."))
        #expect(text("text/plain", String(repeating: "word ", count: 1_000)).utf8.count < 300)
        for body in [
            "wrong password: hunter2", "Bearer hunter2", "session hunter2", "apiKey hunter2", "the code 4711",
            "The authCode 4711 has expired", "Wrong pincode 4711", "sid hunter2",
        ] {
            #expect(text("text/plain", body).hasSuffix("bytes."))
            #expect(text("application/problem+json", #"{"title":"\#(body)"}"#).hasSuffix("bytes."))
        }
        for body in ["No passenger found", "Unknown airport code", "not authorized"] {
            #expect(text("text/plain", body).hasSuffix(": “\(body)”."))
        }
        #expect(text("text/plain", " \n").hasSuffix("bytes."))
        // What is too far behind to be searched isn't shown.
        #expect(text("text/plain", String(repeating: "\n", count: 400) + "password hunter2").hasSuffix("bytes."))
        #expect(
            text("text/plain", "No route for /v1/flights?from=hunter2").hasSuffix(
                ": “No route for /v1/flights?from=…”."))
        let token = "aB3dE5gH7jK9mN1pQ3sT"
        #expect(!text("text/plain", "seen \(token)").contains(token))
        #expect(!text("application/problem+json", #"{"title":"seen \#(token)"}"#).contains(token))
        #expect(text("application/json", #"{"title":"x"}"#).hasSuffix("bytes."))
        let latin = HeaderFields([.init(name: "Content-Type", value: "text/plain; charset=iso-8859-1")])
        let response = AtomResponse(data: Data([0x5A, 0xFC]), statusCode: 400, headerFields: latin)
        #expect(AtomError.response(response).description.hasSuffix(": “Zü”."))
    }

    @Test("A problem document is read in one call, from any error with a response")
    func problem() throws {
        let fields = HeaderFields([.init(name: "Content-Type", value: "application/problem+json; charset=utf-8")])
        let body = #"{"type":"https://a.example/fare","title":"Fixed","status":403,"detail":7,"instance":"/x"}"#
        let response = AtomResponse(data: Data(body.utf8), statusCode: 403, headerFields: fields)
        let expected = ProblemDetails(type: "https://a.example/fare", title: "Fixed", status: 403, instance: "/x")
        let refused = AuthenticationError.refreshFailed(
            cause: AtomError.response(response), retryAt: nil, delivery: .notSent)
        for error in [AtomError.response(response), .authentication(refused)] {
            #expect(error.problemDetails == expected)
            #expect(try error.decodeIfPresent(as: ProblemDetails.self) == expected)
        }
        #expect(AtomError.response(AtomResponse(data: Data(body.utf8), statusCode: 403)).problemDetails == nil)
        #expect(AtomError.unexpected.problemDetails == nil)
        #expect(ProblemDetails().type == "about:blank")
    }
}
