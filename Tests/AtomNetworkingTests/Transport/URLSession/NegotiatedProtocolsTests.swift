import Foundation
import Testing

@testable import AtomNetworking

@Suite(.limited) struct NegotiatedProtocolsTests {
    private let url = URL(string: "https://a.example/x?y")

    @Test func aServerThatMultiplexesGetsManyExchanges() {
        var protocols = NegotiatedProtocols()
        #expect(protocols.exchanges(with: url) == nil)
        for (name, count) in [("h2", 100), ("http/1.1", 6), ("h3", 100), ("http/1.0", 6), ("h3-29", 100)] {
            protocols.note(name, of: url)
            #expect(protocols.exchanges(with: URL(string: "https://A.example/other")) == count)
        }
        protocols.note(nil, of: url)
        #expect(protocols.exchanges(with: url) == 100, "a failed connection says nothing")
        for other in ["http://a.example/", "https://a.example:8443/", "https://b.example/"] {
            #expect(protocols.exchanges(with: URL(string: other)) == nil)
        }
    }

    @Test func noMoreServersAreRememberedThanThatAreUseful() {
        var protocols = NegotiatedProtocols()
        for number in 0..<2_500 { protocols.note("h2", of: URL(string: "https://a\(number).example")) }
        let known = (0..<2_500).count { protocols.exchanges(with: URL(string: "https://a\($0).example")) != nil }
        #expect((1...1_000).contains(known))
    }
}
