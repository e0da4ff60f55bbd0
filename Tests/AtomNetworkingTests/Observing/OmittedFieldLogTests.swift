import AtomNetworking
import AtomNetworkingTesting
import Foundation
import Testing

@Suite("A header field that the transport writes itself is logged and not sent", .limited)
struct OmittedFieldLogTests {
    private static func lines(of headerItems: [HeaderItem]) async throws -> (lines: [String], sent: [String]) {
        let lines = Locked<[String]>([])
        let transport = ScriptedTransport.held { $0.answer() }
        var configuration = ServiceConfiguration(isLogEnabled: true)
        configuration.transport = transport
        configuration.logHandler = { line in lines.with { $0.append(line) } }
        let atom = Atom(serviceConfiguration: configuration)
        try await atom.enqueue(PathEndpoint(headerItems: headerItems)).resume()
        return (lines.value, try #require(transport.requests.first).headerFields.map(\.name))
    }

    @Test("The line names the field and the request, never the value")
    func named() async throws {
        let (lines, sent) = try await Self.lines(of: ["Host": "hunter2", "X-A": "1", "connection": "hunter2"])
        #expect(sent == ["X-A"])
        #expect(lines.count { $0.contains("Host") && $0.contains("https://api.example.com/x") } == 1)
        #expect(lines.count { $0.contains("connection") } == 1)
        #expect(!lines.contains { $0.contains("hunter2") })
    }

    @Test("Nothing is said where nothing is left out")
    func silent() async throws {
        let (lines, _) = try await Self.lines(of: ["X-A": "1"])
        #expect(!lines.contains { $0.contains("left out") })
    }
}
