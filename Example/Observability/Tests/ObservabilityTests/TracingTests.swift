import AtomNetworking
import AtomNetworkingTesting
import Foundation
import InMemoryBackends
import MetricsTestKit
import Observability
import Testing
import Tracing

@Suite(.limited) struct TracingTests {
    @Test func anAttemptIsAClientSpan() async throws {
        let station = try Station(["/good": { _ in .json("{}") }])
        _ = try await station.atom.enqueue(station.endpoint("/good")).resume()
        let span = try #require(station.spans.first)
        #expect(station.spans.count == 1 && station.tracer.activeSpanCount == 0)
        #expect(span.operationName == "GET" && span.kind == .client && span.parentSpanID == nil)
        #expect(span.status == nil)
        #expect(span.startInstant.nanosecondsSinceEpoch <= span.endInstant.nanosecondsSinceEpoch)
        let port = "\(station.server.port)"
        #expect(
            span.texts == [
                "http.request.method": "GET", "server.address": "127.0.0.1", "server.port": port,
                "url.full": "http://127.0.0.1:\(port)/good", "url.scheme": "http", "network.protocol.name": "http",
                "network.protocol.version": "1.1", "network.peer.address": "127.0.0.1", "network.peer.port": port,
                "http.response.status_code": "200",
            ])
        #expect(station.traceParents(at: "/good") == [span.traceParent])
    }

    @Test func eachAttemptIsASpanAMeasurementAndALine() async throws {
        let handler = LoopbackServer.inTurn([.text("", status: 503), .text("", status: 502), .json("{}")])
        let station = try Station(["/busy": handler])
        _ = try await station.atom.enqueue(station.endpoint("/busy")).resume()
        let spans = station.spans
        #expect(spans.map { $0.text("http.response.status_code") } == ["503", "502", "200"])
        #expect(spans.map { $0.text("http.request.resend_count") } == [nil, "1", "2"])
        #expect(spans.map { $0.text("error.type") } == ["503", "502", nil])
        #expect(spans.map { $0.status?.code } == [.error, .error, nil])
        #expect(spans.allSatisfy { $0.status?.message == nil })
        #expect(station.traceParents(at: "/busy") == spans.map(\.traceParent))
        #expect(Set(spans.map(\.spanID)).count == 3)
        let timers = station.metrics.timers(label: MetricName.requestDuration)
        let errors = timers.map { dimensions($0.dimensions)["error.type"] ?? "none" }
        #expect(errors.sorted() == ["502", "503", "none"] && timers.allSatisfy { $0.values.count == 1 })
        let lines = station.log.entries
        let numbers = lines.compactMap { $0.metadata["request"].map { "\($0)" } }
        #expect(numbers.count == lines.count && Set(numbers).count == 1)
        #expect(lines.contains { $0.level == .notice && "\($0.message)".contains("to be sent again") })
        #expect(lines.last?.level == .info && lines.allSatisfy { !"\($0.message)".hasPrefix("[") })
        #expect(lines.compactMap { $0.metadata["traceparent"].map { "\($0)" } } == spans.map(\.traceParent))
    }

    @Test func aRedirectIsAnotherSpan() async throws {
        let station = try Station([
            "/old": { _ in .empty(302, headers: [("Location", "/new")]) }, "/new": { _ in .json("{}") },
        ])
        _ = try await station.atom.enqueue(station.endpoint("/old")).resume()
        #expect(station.spans.map { $0.text("http.response.status_code") } == ["302", "200"])
        #expect(station.spans.map { $0.text("http.request.resend_count") } == [nil, "1"])
        #expect(station.spans.allSatisfy { $0.status == nil && $0.text("error.type") == nil })
        #expect(station.spans.map { $0.text("url.full")?.suffix(4) } == ["/old", "/new"])
        #expect(station.traceParents(at: "/new") == [station.spans.last?.traceParent])
    }

    @Test func anotherOriginGetsASpanAndNoTraceParent() async throws {
        let other = try Station(["/there": { _ in .json("{}") }])
        let target = "http://127.0.0.1:\(other.server.port)/there"
        let station = try Station(["/old": { _ in .empty(302, headers: [("Location", target)]) }])
        _ = try await station.atom.enqueue(station.endpoint("/old")).resume()
        #expect(station.spans.map { $0.text("http.request.resend_count") } == [nil, "1"])
        #expect(station.spans.last?.text("server.port") == "\(other.server.port)")
        #expect(other.traceParents(at: "/there") == [nil])
    }

    @Test func aRefreshAfterA401() async throws {
        let station = try Station([
            "/account": { $0["Authorization"] == "Bearer new" ? .json("{}") : .text("", status: 401) },
            "POST /token": { _ in .json(#"{"access_token": "new", "token_type": "Bearer", "expires_in": 900}"#) },
        ])
        let atom = try station.signedIn(
            TokenCredential(accessToken: "old", expiresAt: .now + 900, refreshToken: "refresh"))
        let parent = station.tracer.startSpan("work", context: .topLevel)
        _ = try await ServiceContext.withValue(parent.context) {
            try await atom.enqueue(station.endpoint("/account").with { $0.requiresAuthorization = true }).resume()
        }
        parent.end()
        let account = station.spans(at: "/account")
        #expect(account.map { $0.text("http.response.status_code") } == ["401", "200"])
        #expect(account.map { $0.text("http.request.resend_count") } == [nil, "1"])
        #expect(account.map(\.parentSpanID) == [parent.spanID, parent.spanID])
        #expect(station.traceParents(at: "/account") == account.map(\.traceParent))
        let token = try #require(station.spans(at: "/token").first)
        #expect(token.operationName == "POST" && token.text("http.response.status_code") == "200")
        // The SDK's own requests aren't signed.
        #expect(station.traceParents(at: "/token") == [nil])
    }

    @Test func theCallersSpanIsTheParent() async throws {
        let station = try Station(["/good": { _ in .json("{}") }])
        // One at a time, so that all others wait in the queue.
        var configuration = station.configuration
        configuration.maximumExchangesPerOrigin = 1
        let atom = Atom(serviceConfiguration: configuration)
        let parents = (0..<20).map { station.tracer.startSpan("work \($0)", context: .topLevel) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for parent in parents {
                group.addTask {
                    _ = try await ServiceContext.withValue(parent.context) {
                        try await atom.enqueue(station.endpoint("/good")).resume()
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(Set(station.spans.map(\.parentSpanID)) == Set(parents.map(\.spanID)))
        #expect(station.spans.allSatisfy { span in parents.contains { $0.traceID == span.traceID } })
        for parent in parents { parent.end() }
        #expect(station.tracer.activeSpanCount == 0)
    }

    @Test func aSpanOfTheWholeRequest() async throws {
        let handler = LoopbackServer.inTurn([.text("", status: 503), .json("{}")])
        let station = try Station(recordsRequests: true, ["/busy": handler])
        _ = try await station.atom.enqueue(station.endpoint("/busy")).resume()
        let whole = try #require(station.tracer.finishedSpans.first { $0.kind == .internal })
        #expect(whole.operationName == "Endpoint" && whole.status == nil)
        #expect(station.spans.map(\.parentSpanID) == [whole.spanID, whole.spanID])
        #expect(station.tracer.finishedSpans.last?.spanID == whole.spanID)
    }

    @Test func aConnectionThatIsRefused() async throws {
        let station = try Station(recordsRequests: true)
        station.server.stop()
        await #expect(throws: AtomError.self) { try await station.atom.enqueue(station.endpoint("/good")).resume() }
        #expect(station.spans.count == 3)
        #expect(station.spans.allSatisfy { $0.text("error.type") == "connection_error" && $0.status?.code == .error })
        #expect(station.spans.allSatisfy { $0.text("http.response.status_code") == nil })
        let whole = try #require(station.tracer.finishedSpans.first { $0.kind == .internal })
        #expect(whole.status?.code == .error && whole.text("error.type") == "connection_error")
        #expect(station.tracer.activeSpanCount == 0)
        let timers = station.metrics.timers(label: MetricName.requestDuration)
        #expect(timers.map { dimensions($0.dimensions)["error.type"] } == ["connection_error"])
        #expect(timers.first?.values.count == 3)
        #expect(station.metrics.meters(label: MetricName.activeRequests).first?.lastValue == 0)
        #expect(station.metrics.recorders(label: MetricName.responseBodySize).isEmpty)
    }

    @Test func aRequestThatIsCancelled() async throws {
        let station = try Station(recordsRequests: true, ["/slow": { _ in .hang }])
        let atom = station.atom
        let request = Task { try await atom.enqueue(station.endpoint("/slow")).resume() }
        await station.server.waitForRequests(1)
        request.cancel()
        await #expect(throws: AtomError.self) { try await request.value }
        #expect(station.tracer.finishedSpans.map { $0.text("error.type") } == ["cancelled", "cancelled"])
        #expect(station.tracer.finishedSpans.allSatisfy { $0.status?.code == .error })
        #expect(station.tracer.activeSpanCount == 0)
        #expect(station.metrics.meters(label: MetricName.activeRequests).map(\.lastValue) == [0])
    }

    @Test func whatIsSignedAndNotSentEnds() async throws {
        struct Refusal: Error {}
        struct Refusing: RequestSigner {
            func sign(_ request: inout SignableRequest) throws { throw Refusal() }
        }
        var station = try Station(["/good": { _ in .json("{}") }])
        station.configuration.signers.append(Refusing())
        let atom = station.atom
        await #expect(throws: AtomError.self) { try await atom.enqueue(station.endpoint("/good")).resume() }
        #expect(station.tracer.activeSpanCount == 0)
        #expect(station.spans.map { $0.text("error.type") } == ["authentication"])
        #expect(station.server.requestCount == 0)
    }

    @Test func aTemplateIsPartOfTheName() async throws {
        let station = try Station(template: { _ in "/flights/{number}" }, ["/flights/AS1": { _ in .json("{}") }])
        _ = try await station.atom.enqueue(station.endpoint("/flights/AS1")).resume()
        #expect(station.spans.map(\.operationName) == ["GET /flights/{number}"])
        #expect(station.spans.first?.text("url.template") == "/flights/{number}")
    }
}
