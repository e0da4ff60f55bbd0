import AtomNetworking
import Foundation
import Testing
import os

@Suite(.limited) struct UnifiedLogTests {
    struct Endpoint: Requestable {
        var queryItems: [QueryItem]? { ["key": "hush-hush"] }
        func baseURL() throws(AtomError) -> BaseURL { try BaseURL(host: "log.example.com") }
    }

    @Test func whatIsLoggedGoesToTheUnifiedLogWithoutSecrets() async {
        let transport = ScriptedTransport()
        var configuration = ServiceConfiguration(isLogEnabled: true)
        configuration.transport = transport
        let task = Atom(serviceConfiguration: configuration).enqueue(Endpoint()).resume { _ in }
        task.cancel()
        let lines = Logger.lines.filter { $0.contains("log.example.com") }
        #expect(
            lines.contains {
                $0.hasPrefix("AtomNetworking/exchange: [") && $0.hasSuffix("] → GET https://log.example.com/?key=…")
            })
        #expect(lines.count >= 3)
        #expect(!lines.joined().contains("hush-hush"))
    }
}
