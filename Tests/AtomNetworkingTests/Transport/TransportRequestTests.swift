import AtomNetworkingTesting
import Foundation
import Testing

@testable import AtomNetworking

/// Sends each request through a proxy, with one more header field.
private struct WrappingTransport: Transport {
    let base: ScriptedTransport
    let proxy: BaseURL

    func start(
        _ request: TransportRequest, receive: @escaping @Sendable (TransportEvent) -> Void
    ) -> any TransportExchange {
        var fields = request.headerFields
        fields["X-Forwarded-Host"] = request.target.host
        let forwarded = (try? request.replacing(headerFields: fields)) ?? request
        return base.start(
            forwarded.replacing(target: request.target.replacing(base: proxy)), receive: receive)
    }
}

@Suite("A request that is derived from another one", .limited)
struct TransportRequestTests {
    private static func request(_ fields: [HeaderItem] = []) throws -> TransportRequest {
        try TransportRequest(
            method: "PUT", base: BaseURL(host: "api.example.com"), path: URLPath("/v1/seats"),
            queryItems: [QueryItem(name: "row", value: "12 A")], headerFields: HeaderFields(fields),
            body: Data("x".utf8), idleTimeout: .seconds(7))
    }

    @Test("It has the new header fields, and all else of the old one")
    func headerFields() throws {
        let old = try Self.request([.init(name: "Authorization", value: "Bearer t")])
        let new = try old.replacing(headerFields: HeaderFields([.init(name: "traceparent", value: "00-1-2-01")]))
        #expect(new.headerFields == HeaderFields([.init(name: "traceparent", value: "00-1-2-01")]))
        #expect(new.method == "PUT")
        #expect(new.target == old.target)
        #expect(new.body?.data == old.body?.data)
        #expect(new.idleTimeout == .seconds(7))
        #expect(!new.needsFreshConnection)
    }

    @Test(
        "Header fields that can't be sent are rejected, and the value is not shown",
        arguments: [
            ("X-Name", "secret\r\nX-Other: 1"), ("X Name", "secret"), ("", "secret"), ("Content-Length", "5"),
            ("Host", "secret"),
        ])
    func invalidFields(_ name: String, _ value: String) throws {
        let request = try Self.request()
        #expect {
            _ = try request.replacing(headerFields: HeaderFields([.init(name: name, value: value)]))
        } throws: { error in
            guard case .requestable(.invalidHeader) = error as? AtomError else { return false }
            return !"\(error)".contains("secret")
        }
    }

    @Test("It has the new target, and all else of the old one")
    func target() throws {
        let old = try Self.request([.init(name: "Accept", value: "*/*")])
        let proxy = try BaseURL(scheme: .http, host: "127.0.0.1", port: 8_080)
        let new = old.replacing(target: old.target.replacing(base: proxy))
        #expect(new.target.absoluteString == "http://127.0.0.1:8080/v1/seats?row=12%20A")
        #expect(new.target.port == 8_080)
        #expect(new.target.scheme == .http)
        #expect(new.headerFields == old.headerFields)
        #expect(new.body?.data == old.body?.data)
        let own = TargetURL(base: proxy, path: try URLPath("/health"))
        #expect(old.replacing(target: own).target.absoluteString == "http://127.0.0.1:8080/health")
    }

    @Test("A wrapping transport changes what is sent, and a refresh stays one")
    func wrapping() async throws {
        let base = ScriptedTransport.held { $0.answer("{}") }
        var configuration = ServiceConfiguration(dispatchQueue: .global())
        configuration.transport = WrappingTransport(base: base, proxy: try BaseURL(host: "gateway.example.com"))
        _ = try await Atom(serviceConfiguration: configuration).enqueue(PathEndpoint()).resume()
        #expect(base.requests.map(\.target.absoluteString) == ["https://gateway.example.com/x"])
        #expect(base.requests.first?.headerFields["X-Forwarded-Host"] == "api.example.com")

        let tokenRequest = TransportRequest(
            method: "POST", target: base.requests[0].target, headerFields: HeaderFields(), body: nil,
            idleTimeout: .seconds(1), needsFreshConnection: true)
        #expect(try tokenRequest.replacing(headerFields: HeaderFields()).needsFreshConnection)
        #expect(tokenRequest.replacing(target: tokenRequest.target).needsFreshConnection)
    }
}
