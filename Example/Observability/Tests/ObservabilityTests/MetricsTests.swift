import AtomNetworking
import AtomNetworkingTesting
import Foundation
import MetricsTestKit
import Observability
import Testing

/// The dimensions of a metric by name.
func dimensions(_ pairs: [(String, String)]) -> [String: String] { Dictionary(uniqueKeysWithValues: pairs) }

@Suite(.limited) struct MetricsTests {
    @Test func anAttemptIsTimed() async throws {
        let station = try Station(["/good": { _ in .json(#"{"a": 1}"#) }])
        let endpoint = station.endpoint("/good").with { endpoint in
            endpoint.methodText = "POST"
            endpoint.body = .form(["a": "345"])
        }
        _ = try await station.atom.enqueue(endpoint).resume()
        let timer = try #require(station.metrics.timers(label: MetricName.requestDuration).first)
        let expected = [
            "http.request.method": "POST", "server.address": "127.0.0.1", "server.port": "\(station.server.port)",
            "url.scheme": "http", "http.response.status_code": "200", "network.protocol.version": "1.1",
        ]
        #expect(dimensions(timer.dimensions) == expected)
        #expect(timer.values.count == 1 && timer.values[0] > 0 && timer.displayUnit == .seconds)
        let sent = try #require(station.metrics.recorders(label: MetricName.requestBodySize).first)
        #expect(sent.values == [5] && dimensions(sent.dimensions) == expected)
        let received = try #require(station.metrics.recorders(label: MetricName.responseBodySize).first)
        #expect(received.values == [8])
    }

    @Test func attemptsOnTheirWayAreCounted() async throws {
        let gate = LoopbackServer.Gate()
        let station = try Station(["/slow": { _ in .json("{}").after(gate) }])
        let endpoint = station.endpoint("/slow")
        let atom = station.atom
        async let first: AtomResponse = atom.enqueue(endpoint).resume()
        async let second: AtomResponse = atom.enqueue(endpoint).resume()
        await station.server.waitForRequestsInProgress(2)
        let meter = try #require(station.metrics.meters(label: MetricName.activeRequests).first)
        #expect(meter.lastValue == 2)
        gate.open()
        _ = try await (first, second)
        #expect(meter.lastValue == 0)
        #expect(station.metrics.meters(label: MetricName.activeRequests).count == 1)
    }
}
