import AtomNetworking
import AtomNetworkingTesting
import Foundation
import Testing

/// G13: log lines name methods, URLs, status codes and sizes.
@Suite("No log line shows a secret", .limited)
struct LogLineTests {
    private static let token = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl"

    /// The log lines of one request with a scripted response.
    private static func lines(_ script: @escaping ScriptedTransport.Script) async -> [String] {
        let (lines, sink) = AsyncStream.makeStream(of: String.self)
        var configuration = ServiceConfiguration(isLogEnabled: true)
        configuration.transport = ScriptedTransport.held(script: script)
        configuration.logHandler = { sink.yield($0) }
        _ = try? await Atom(serviceConfiguration: configuration).enqueue(PathEndpoint()).resume()
        sink.finish()
        return await lines.reduce(into: []) { $0.append($1) }
    }

    @Test(
        "The log doesn't show a secret in the address of a redirect",
        arguments: ["/file?hunter2signature", "/file?a=1&hunter2signature", "/file?hunter2signature=", "/file#hunter2"])
    func redirect(location: String) async {
        let location = location.replacingOccurrences(of: "hunter2signature=", with: "\(Self.token)=")
        let lines = await Self.lines { exchange in
            exchange.request.target.absoluteString.contains("file")
                ? exchange.answer() : exchange.redirect(to: location)
        }
        #expect(lines.contains { $0.contains("→ GET") && $0.contains("/file") })
        expectNone(of: lines, toContain: "hunter2")
        expectNone(of: lines, toContain: "eyJhb")
    }

    @Test("A token in a redirect's path is hidden, but the rest of the path and a UUID in it are shown")
    func path() async {
        let lines = await Self.lines { exchange in
            exchange.request.target.absoluteString.contains("seats")
                ? exchange.answer()
                : exchange.redirect(to: "/links/\(Self.token)/seats/550E8400-E29B-41D4-A716-446655440000")
        }
        expectNone(of: lines, toContain: "eyJ")
        #expect(lines.contains { $0.contains("/links/…/seats/550E8400-E29B-41D4-A716-446655440000") })
    }

    @Test("A request that is refused before the network has a line with the reason, and no secret")
    func refusals() async {
        struct Refused: Requestable {
            func baseURL() throws(AtomError) -> BaseURL { try BaseURL(host: "a.example") }
            var headerItems: [HeaderItem] { [HeaderItem(name: "X-Key", value: "hunter2\n")] }
        }
        let lines = Locked<[String]>([])
        let transport = ScriptedTransport.held { $0.answer() }
        var configuration = ServiceConfiguration(isLogEnabled: true)
        configuration.transport = transport
        configuration.logHandler = { line in lines.with { $0.append(line) } }
        let service = Atom(serviceConfiguration: configuration).enqueue(Refused())
        _ = try? await service.resume()
        await withCheckedContinuation { continuation in
            service.resume { _ in continuation.resume() }
        }
        #expect(transport.exchanges.isEmpty)
        #expect(lines.value.count == 2)
        #expect(lines.value.allSatisfy { $0.contains("Refused, not sent: Invalid header field") })
        expectNone(of: lines.value, toContain: "hunter2")
    }

    @Test(
        "A token that a response echoes as its media type isn't logged",
        arguments: [token, "text/\(token)", "text/plain; charset=\(token)", "text/plain; token=hunter2", "hunter2"])
    func mediaType(_ type: String) async {
        for status in [200, 500] {
            let lines = await Self.lines { $0.answer("{}", status: status, headers: [("Content-Type", type)]) }
            #expect(lines.contains { $0.contains("← HTTP \(status)") })
            expectNone(of: lines, toContain: "hunter2")
            expectNone(of: lines, toContain: "eyJ")
        }
    }
}
