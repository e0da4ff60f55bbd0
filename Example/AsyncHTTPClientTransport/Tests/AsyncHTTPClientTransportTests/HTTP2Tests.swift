import AsyncHTTPClient
import AsyncHTTPClientTransport
import Foundation
import NIOCore
import NIOSSL
import Testing

@testable import AtomNetworking

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite(.enabled(if: OpenSSL.path != nil, "openssl is not installed"), .timeLimit(.minutes(5)))
struct HTTP2ConcurrencyTests {
    private func transport(
        _ server: HTTP2Server, _ change: (inout HTTPClient.Configuration) -> Void = { _ in }
    ) -> AsyncHTTPClientTransport {
        var configuration = HTTPClient.Configuration()
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.trustRoots = .certificates([server.certificate])
        configuration.tlsConfiguration = tls
        change(&configuration)
        return AsyncHTTPClientTransport(configuration: configuration)
    }

    @Test func manyRequestsShareOneConnection() async throws {
        let server = try HTTP2Server()
        defer { server.stop() }
        let transport = transport(server)
        let atom = Atom(.forTest(over: transport))
        let endpoint = WireEndpoint(scheme: .https, host: "localhost", port: server.port, rawPath: "/echo")
        let first = await atom.outcome(of: endpoint)
        #expect(first.response?.statusCode == 200)
        await withTaskGroup(of: Void.self) { group in
            for index in 0..<200 {
                group.addTask {
                    var endpoint = endpoint
                    endpoint.method = .post(Data("body \(index)".utf8))
                    #expect(await atom.outcome(of: endpoint).text == "body \(index)")
                }
            }
        }
        #expect(server.requests.count == 201 && server.connections == 1)
        #expect(server.requests.allSatisfy { $0.version == "HTTP/2.0" })
    }

    @Test func largeBodiesGoBothWays() async throws {
        let server = try HTTP2Server()
        defer { server.stop() }
        let body = Data((0..<5_000_000).map { UInt8(truncatingIfNeeded: $0 / 3) })
        let recorder = EventRecorder()
        let request = try TransportRequest(
            method: "PUT", base: BaseURL(host: "localhost", port: server.port), path: URLPath("/echo"), body: body)
        _ = transport(server).start(request) { recorder.receive($0) }
        #expect(await recorder.end() == .finished)
        #expect(recorder.body == body && recorder.sent == body.count && recorder.violations == [])
    }

    @Test func aRequestForAFreshConnectionGetsOne() async throws {
        let server = try HTTP2Server()
        defer { server.stop() }
        let transport = transport(server)
        for needsFreshConnection in [false, true, false, true] {
            let recorder = EventRecorder()
            let request = TransportRequest(
                method: "GET",
                target: TargetURL(
                    base: try BaseURL(host: "localhost", port: server.port), path: try URLPath("/echo"),
                    queryItems: []),
                headerFields: HeaderFields(), body: nil, idleTimeout: .seconds(60),
                needsFreshConnection: needsFreshConnection)
            _ = transport.start(request) { recorder.receive($0) }
            #expect(await recorder.end() == .finished)
        }
        #expect(server.requests.map(\.connection) == [0, 1, 0, 2])
    }

    @Test func aStreamThatIsResetIsAFailureOfThatRequestAlone() async throws {
        let server = try HTTP2Server()
        defer { server.stop() }
        let transport = transport(server)
        let atom = Atom(.forTest(over: transport))
        let good = WireEndpoint(scheme: .https, host: "localhost", port: server.port, rawPath: "/echo")
        var bad = good
        bad.rawPath = "/reset"
        for _ in 0..<10 {
            async let answered = atom.outcome(of: good)
            let failed = await atom.outcome(of: bad)
            #expect(failed.urlError?.code == .networkConnectionLost)
            #expect(failed.error?.delivery == .maybeSent)
            #expect(await answered.response?.statusCode == 200)
        }
        #expect(server.connections == 1)
    }

    @Test func whoeverIsCancelledLeavesTheOthersAlone() async throws {
        let server = try HTTP2Server()
        defer { server.stop() }
        let transport = transport(server)
        let base = try BaseURL(host: "localhost", port: server.port)
        var recorders: [EventRecorder] = []
        for index in 0..<100 {
            let recorder = EventRecorder()
            let request = try TransportRequest(base: base, path: URLPath(index % 2 == 0 ? "/echo" : "/hang"))
            let exchange = transport.start(request) { recorder.receive($0) }
            if index % 2 == 1 { recorder.cancel(exchange) }
            recorders.append(recorder)
        }
        for (index, recorder) in recorders.enumerated() {
            #expect(await recorder.end() == (index % 2 == 0 ? .finished : .failed))
            #expect(recorder.violations == [])
        }
    }

    @Test func aCertificateOfNobodyIsNotTrusted() async throws {
        let server = try HTTP2Server()
        defer { server.stop() }
        let endpoint = WireEndpoint(scheme: .https, host: "localhost", port: server.port, rawPath: "/echo")
        let outcome = await Atom.forTest(over: .asyncHTTPClient).outcome(of: endpoint)
        #expect(outcome.urlError?.code == .serverCertificateUntrusted)
        #expect(outcome.error?.delivery == .notSent)
        #expect(server.requests.isEmpty)
    }

    @Test func aCertificateForAnotherHostIsNotTrusted() async throws {
        let server = try HTTP2Server()
        defer { server.stop() }
        let transport = transport(server)
        let endpoint = WireEndpoint(scheme: .https, host: "127.0.0.1", port: server.port, rawPath: "/echo")
        let outcome = await Atom(.forTest(over: transport)).outcome(of: endpoint)
        #expect(outcome.urlError?.code == .serverCertificateUntrusted)
        #expect(outcome.error?.delivery == .notSent)
        #expect(server.requests.isEmpty)
    }

    @Test func aClientForHTTP1AloneSpeaksThatOverTLS() async throws {
        let server = try HTTP2Server()
        defer { server.stop() }
        let transport = transport(server) { $0.httpVersion = .http1Only }
        let endpoint = WireEndpoint(scheme: .https, host: "localhost", port: server.port, rawPath: "/echo")
        let outcome = await Atom(.forTest(over: transport)).outcome(of: endpoint)
        // The server insists on HTTP/2.
        #expect(outcome.error != nil)
        #expect(server.requests.isEmpty)
    }
}
