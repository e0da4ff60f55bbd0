import AtomNetworking
import AtomNetworkingTesting
import Foundation
import Testing

private struct Endpoint: Requestable {
    let value: URLPath
    func baseURL() throws(AtomError) -> BaseURL { try BaseURL(host: "a.example") }
    func path() -> URLPath { value }
}

private enum Cabin: String {
    case first = "first class"
}

@Suite("A path as a literal, with values", .limited)
struct URLPathLiteralTests {
    private static func sent(_ path: URLPath.Literal) async throws(AtomError) -> String {
        let transport = ScriptedTransport.held { $0.answer("") }
        var configuration = ServiceConfiguration()
        configuration.transport = transport
        defer { #expect(transport.requests.count <= 1) }
        do {
            try await Atom(serviceConfiguration: configuration).enqueue(Endpoint(value: .literal(path))).resume()
        } catch {
            #expect(transport.exchanges.isEmpty)
            throw error
        }
        return transport.requests.first?.target.absoluteString.replacingOccurrences(of: "https://a.example", with: "")
            ?? ""
    }

    @Test("A literal is the path")
    func literals() async throws {
        #expect(try await Self.sent("/v1/flights") == "/v1/flights")
        #expect(try await Self.sent("/v1/caf\u{E9}/") == "/v1/caf%C3%A9/")
        #expect(try await Self.sent("") == "/")
        #expect(URLPath.literal("/a") == (try URLPath("/a")))
        #expect(URLPath.literal("").description.isEmpty)
    }

    @Test(
        "A value stays within its segment, whatever it contains",
        arguments: [
            ("AS 12", "/f/AS%2012/s"), ("a/b", "/f/a%2Fb/s"), ("../x", "/f/..%2Fx/s"), ("50%", "/f/50%25/s"),
            ("%2F", "/f/%252F/s"), ("a?b#c", "/f/a%3Fb%23c/s"), ("\u{E9}", "/f/%C3%A9/s"), ("\n", "/f/%0A/s"),
        ])
    func values(_ value: String, _ path: String) async throws {
        #expect(try await Self.sent("/f/\(value)/s") == path)
    }

    @Test("Numbers, UUIDs, raw values, parts of a segment and whole paths may be values")
    func otherValues() async throws {
        let id = UUID()
        #expect(try await Self.sent("/a/\(12)/\(id)/\(Cabin.first)") == "/a/12/\(id.uuidString)/first%20class")
        #expect(try await Self.sent("/report-\(2026).pdf") == "/report-2026.pdf")
        #expect(try await Self.sent("\(path: URLPath("/v1/a"))/\("b/c"[...])") == "/v1/a/b%2Fc")
    }

    @Test(
        "What isn't a path is refused before anything is sent",
        arguments: ["no slash", "/a b", "/a//b", "/a?b", "/\("")", "/a/\("")", "/a/\("")/b", "/a/\("..")", "/\(".")/b"])
    func refusals(_ path: URLPath.Literal) async {
        do {
            let sent = try await Self.sent(path)
            Issue.record("\(sent)")
        } catch .requestable(.invalidURLPath(let violation)) {
            #expect(!violation.reason.isEmpty)
        } catch {
            Issue.record("\(error)")
        }
    }

    @Test("A literal that isn't a path is refused in an adapter too, and is no path elsewhere")
    func elsewhere() async throws {
        struct Moved: RequestAdapter {
            func adapt(_ request: inout RequestDescription, of endpoint: any Requestable) {
                request.path = .literal("/v2 ")
            }
        }
        let transport = ScriptedTransport.held { $0.answer("") }
        var configuration = ServiceConfiguration()
        configuration.transport = transport
        configuration.adapters = [Moved()]
        let service = Atom(serviceConfiguration: configuration).enqueue(Endpoint(value: .literal("/a")))
        await #expect(throws: AtomError.self) { try await service.resume() }
        #expect(transport.exchanges.isEmpty)
        let target = try TargetURL(base: BaseURL(host: "a.example"), path: .literal(".evil.example"))
        #expect(target.absoluteString == "https://a.example/")
    }

    @Test("A path with an empty value is refused within another one as well, and before an adapter sees it")
    func nested() async throws {
        let user: URLPath = .literal("/users/\("")")
        await #expect(throws: AtomError.self) { try await Self.sent("/v1\(path: user)") }
        struct Prefix: RequestAdapter {
            func adapt(_ request: inout RequestDescription, of endpoint: any Requestable) throws {
                request.path = try URLPath("/proxy" + request.path.description)
            }
        }
        let transport = ScriptedTransport.held { $0.answer("") }
        var configuration = ServiceConfiguration()
        configuration.transport = transport
        configuration.adapters = [Prefix()]
        let service = Atom(serviceConfiguration: configuration).enqueue(Endpoint(value: user))
        await #expect(throws: AtomError.self) { try await service.resume() }
        #expect(transport.exchanges.isEmpty)
    }

    @Test("A path that is made with an initializer is checked at once, also if it is a literal")
    func initializers() throws {
        #expect(throws: AtomError.self) { try URLPath("no slash") }
        #expect(throws: AtomError.self) { try URLPath("/a//\("b")") }
        #expect(try URLPath("/a/\("b/c")").description == "/a/b/c")
    }
}
