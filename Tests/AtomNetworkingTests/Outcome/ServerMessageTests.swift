import AtomNetworkingTesting
import Foundation
import Testing

@testable import AtomNetworking

@Suite("A server's own words for people", .limited)
struct ServerMessageTests {
    private func message(_ type: String, _ body: String, status: Int = 422) -> String? {
        let fields = HeaderFields([.init(name: "Content-Type", value: type)])
        return AtomError.response(AtomResponse(data: Data(body.utf8), statusCode: status, headerFields: fields))
            .serverMessage
    }

    @Test("The best sentence of a JSON error is chosen, and nothing of another type")
    func choice() {
        let problem = "application/problem+json"
        let table: [(type: String, body: String, message: String?)] = [
            (problem, #"{"title":"No seat","detail":"Row 7 is full.","message":"x"}"#, "Row 7 is full."),
            (problem, #"{"title":"No seat","detail":""}"#, "No seat"), (problem, #"{"title":"No seat"}"#, "No seat"),
            (problem, #"{"title":7,"detail":["x"],"message":"No seat"}"#, "No seat"),
            ("application/json; charset=utf-8", #"{"detail":"Row 7 is full."}"#, "Row 7 is full."),
            ("application/vnd.a+json", #"{"message":"Row 7 is full."}"#, "Row 7 is full."),
            ("application/json", #"{"error":{"code":7,"message":"Row 7 is full."}}"#, "Row 7 is full."),
            ("application/json", #"{"error":"full","message":"Row 7 is full."}"#, "Row 7 is full."),
            ("application/json", #"{"error":"full"}"#, nil), ("application/json", #"{"message":null}"#, nil),
            ("application/json", #"["Row 7 is full."]"#, nil), ("application/json", #"{"message":"#, nil),
            ("application/json", "", nil), ("application/json", #"{"message":" \n "}"#, nil),
            // The explanation of an authorization server is for developers (RFC 6749 §5.2).
            ("application/json", #"{"error":"x","error_description":"Row 7 is full."}"#, nil),
            ("text/plain", "Row 7 is full.", nil), ("text/html", #"{"message":"Row 7 is full."}"#, nil),
        ]
        for (type, body, text) in table { #expect(message(type, body) == text, "\(body)") }
        #expect(message(problem, #"{"title":"No seat"}"#, status: 407) == nil, "it is the proxy's")
    }

    @Test("It is one line without control characters, and of a bounded length")
    func line() {
        func text(_ text: String) -> String? { message("application/json", #"{"message":"\#(text)"}"#) }
        #expect(text(#"Row 7\r\n is\tfull.\u0000\u001b[31m\u202E"#) == "Row 7 is full.[31m")
        #expect(text(#"第七排已满。"#) == "第七排已满。")
        let long = text(String(repeating: "word ", count: 1_000)) ?? ""
        #expect(long.count == 301 && long.hasPrefix("word word ") && long.hasSuffix("…"))
        let unbroken = text(String(repeating: "座", count: 1_000)) ?? ""
        #expect(unbroken.count == 301 && unbroken.hasSuffix("…"))
    }

    @Test("It is redacted like a description")
    func redacted() {
        func text(_ text: String) -> String? { message("application/json", #"{"message":"\#(text)"}"#) }
        #expect(text("Write to help@example.com, or call us.") == "Write to …@example.com, or call us.")
        #expect(text("See https://a.example/x?q=hunter2") == "See https://a.example/x?q=…")
        #expect(text("The ticket aB3dE5gH7jK9mN1pQ3sT is used.") == "The ticket … is used.")
        for body in ["wrong password: hunter2", "Bearer hunter2", "the code 4711", #"pass\u0000word hunter2"#] {
            #expect(text(body) == nil, "\(body)")
        }
    }

    private struct Booking: Requestable {
        var headerItems: [HeaderItem]?
        var text = "x"
        var method: HTTPMethod { .post }
        var body: RequestBody? { .json(["name": text]) }
        func baseURL() throws(AtomError) -> BaseURL { try BaseURL(host: "a.example") }
    }

    @Test("What the request was signed with isn't shown, nor the words if that isn't known")
    func secrets() async throws {
        let answer = ScriptedResponse.json(text: #"{"message":"nobody called hunter2 lives here"}"#, status: 422)
        for (endpoint, message) in [
            (Booking(headerItems: ["Authorization": "Key hunter2"]), "nobody called … lives here"),
            (Booking(headerItems: ["X-Api-Key": "hunter2"]), "nobody called … lives here"),
            (Booking(), "nobody called hunter2 lives here"), (Booking(text: "the password is hunter2"), nil),
        ] {
            let (atom, _) = Atom.scripted(answer)
            let error = try #require(
                await #expect(throws: AtomError.self) { try await atom.enqueue(endpoint).resume() })
            #expect(error.serverMessage == message)
            #expect(message?.contains("hunter2") == true || !"\(error)".contains("hunter2"))
        }
    }

    @Test("Only the response of the request itself has one")
    func others() {
        let fields = HeaderFields([.init(name: "Content-Type", value: "application/json")])
        let response = AtomResponse(data: Data(#"{"message":"x"}"#.utf8), statusCode: 400, headerFields: fields)
        #expect(AtomError.response(response).serverMessage == "x")
        let cause = AtomError.response(response)
        for error: AtomError in [
            .authentication(.refreshFailed(cause: cause, retryAt: nil, delivery: .notSent)), .unexpected,
            .transfer(TransferError(.bodyNotRepeatable, "x", delivery: .answered, response: response)),
        ] { #expect(error.serverMessage == nil) }
    }
}
