import AtomNetworking
import Foundation
import Testing

private struct Endpoint: Requestable {
    let value: EndpointPath
    func baseURL() throws(AtomError) -> BaseURL { try BaseURL(host: "a.example") }
    func path() -> EndpointPath { value }
}

private struct PropertyEndpoint: Requestable {
    let path: EndpointPath
    func baseURL() throws(AtomError) -> BaseURL { try BaseURL(host: "a.example") }
}

private enum Cabin: String {
    case first = "first class"
}

@Suite("A path as a literal, with values")
struct EndpointPathTests {
    private static func sent(_ path: EndpointPath) throws(AtomError) -> String {
        let endpoint = Endpoint(value: path)
        func resolved(_ endpoint: some Requestable) throws(AtomError) -> URLPath { try endpoint.path() }
        let sent = try resolved(endpoint)
        #expect(try resolved(PropertyEndpoint(path: path)) == sent)
        return sent.description
    }

    @Test("A literal is the path")
    func literals() throws {
        #expect(try Self.sent("/v1/flights") == "/v1/flights")
        #expect(try Self.sent("/v1/caf\u{E9}/") == "/v1/caf%C3%A9/")
        #expect(try Self.sent("") == "")
    }

    @Test(
        "A value stays within its segment, whatever it contains",
        arguments: [
            ("AS 12", "/f/AS%2012/s"), ("a/b", "/f/a%2Fb/s"), ("../x", "/f/..%2Fx/s"), ("50%", "/f/50%25/s"),
            ("%2F", "/f/%252F/s"), ("a?b#c", "/f/a%3Fb%23c/s"), ("\u{E9}", "/f/%C3%A9/s"), ("\n", "/f/%0A/s"),
        ])
    func values(_ value: String, _ path: String) throws {
        #expect(try Self.sent("/f/\(value)/s") == path)
    }

    @Test("Numbers, UUIDs, raw values, parts of a segment and whole paths")
    func otherValues() throws {
        let id = UUID()
        #expect(try Self.sent("/a/\(12)/\(id)/\(Cabin.first)") == "/a/12/\(id.uuidString)/first%20class")
        #expect(try Self.sent("/report-\(2026).pdf") == "/report-2026.pdf")
        #expect(try Self.sent("\(path: URLPath("/v1/a"))/\("b/c"[...])") == "/v1/a/b%2Fc")
    }

    @Test(
        "What isn't a path is refused before anything is sent",
        arguments: ["no slash", "/a b", "/a//b", "/a?b", "/\("")", "/a/\("")", "/a/\("")/b", "/a/\("..")", "/\(".")/b"])
    func refusals(_ path: EndpointPath) {
        do {
            let sent = try Self.sent(path)
            Issue.record("\(sent)")
        } catch .requestable(.invalidURLPath(let violation)) {
            #expect(!violation.reason.isEmpty)
        } catch {
            Issue.record("\(error)")
        }
    }
}
