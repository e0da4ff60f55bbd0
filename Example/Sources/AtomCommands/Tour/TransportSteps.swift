import AirlineServer
import AtomNetworking
import Foundation
import Terminal

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Says what sends the requests, and checks what only libcurl does on Linux.
struct TransportSteps {
    let tour: Tour

    func run(_ checklist: inout Checklist) async {
        checklist.section("The transport")
        let isCurl = await nameTransport(&checklist)
        guard isCurl else {
            checklist.note("checked only over libcurl: broken answers, and a certificate of its own authority")
            return
        }
        await hearTheUnusual(&checklist)
        #if os(Linux)
            await trust(&checklist)
        #endif
    }

    /// - Returns: Whether it is libcurl.
    private func nameTransport(_ checklist: inout Checklist) async -> Bool {
        let transport = ServiceConfiguration().makeDefaultTransport()
        let result = await outcome { () async throws(AtomError) in
            try await tour.atom { $0.transport = transport }.enqueue(FlightEndpoint.list(tour.airline)).resume()
        }
        checklist.check(
            result.value?.statusCode == 200, "requests are sent over \(TransportName.of(transport))",
            detail: result.error?.description)
        return !(transport is URLSessionTransport)
    }

    // MARK: Answers that end a process with URLSession on Linux

    private static let answers = [
        "/torn": "HTTP/1.1 200 OK\r\nContent-Type: text/pl",
        "/trailers": "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n6\r\nboards\r\n0\r\nX-Checksum: 1\r\n\r\n",
        "/zone": "HTTP/1.1 302 Found\r\nLocation: //[::1%25eth0]:80/\r\nContent-Length: 0\r\n\r\n",
    ]

    private func hearTheUnusual(_ checklist: inout Checklist) async {
        guard let server = try? await RawServer.start(Self.answers) else {
            checklist.check(false, "a second server starts")
            return
        }
        let torn = await answer("/torn", of: server)
        checklist.check(
            torn.error?.wireCode == .networkConnectionLost && torn.error?.delivery == .maybeSent,
            "a connection that ends within the head is an error", detail: torn.summary)
        let trailers = await answer("/trailers", of: server)
        checklist.check(
            trailers.value.map { String(decoding: $0.data, as: UTF8.self) } == "boards",
            "a chunked answer with trailers is an answer",
            detail: trailers.value?.description ?? trailers.summary)
        let zone = await answer("/zone", of: server)
        var status: Int?
        if case .response(let response)? = zone.error { status = response.statusCode }
        checklist.check(
            status == 302, "a redirect to an IPv6 address with a zone isn't followed", detail: zone.summary)
        await server.stop()
    }

    private func answer(_ path: String, of server: RawServer) async -> Result<AtomResponse, AtomError> {
        await outcome { () async throws(AtomError) in
            let base = try BaseURL(scheme: .http, host: "127.0.0.1", port: Int(server.port))
            return try await tour.atom().enqueue(PlainEndpoint(base: base, text: path)).resume()
        }
    }
}

#if os(Linux)
    extension TransportSteps {
        private func trust(_ checklist: inout Checklist) async {
            guard let server = await CertificateServer.start() else {
                checklist.note("not checked: a certificate of its own authority, because there is no openssl")
                return
            }
            let refused = await answer(of: server, trust: { () throws(AtomError) in .system })
            let codes: [URLError.Code] = [.serverCertificateUntrusted, .serverCertificateHasUnknownRoot]
            checklist.check(
                refused.error?.wireCode.map(codes.contains) == true && refused.error?.delivery == .notSent,
                "a certificate of an unknown authority is refused", detail: refused.summary)
            let accepted = await answer(of: server) { () throws(AtomError) in
                .only(try .init(contentsOf: server.certificate))
            }
            checklist.check(
                accepted.value?.statusCode == 200, "the same certificate is accepted if it is trusted",
                detail: accepted.value?.description ?? accepted.summary)
            await server.stop()
        }

        private func answer(
            of server: CertificateServer, trust: () throws(AtomError) -> CurlTransport.Trust
        ) async -> Result<AtomResponse, AtomError> {
            await outcome { () async throws(AtomError) in
                var curl = CurlTransport.Configuration()
                curl.trust = try trust()
                // The server is on this machine, whatever the environment names.
                curl.proxy = .none
                let transport = try CurlTransport(configuration: curl)
                return try await tour.atom { $0.transport = transport }
                    .enqueue(PlainEndpoint(base: try server.base(), text: "/")).resume()
            }
        }
    }
#endif
