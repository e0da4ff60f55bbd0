#if os(Linux)
    import AtomNetworkingTesting
    import Foundation
    import FoundationNetworking
    import Testing

    @testable import AtomNetworking

    /// The table of texts in *Troubleshooting*; other versions of libcurl have other
    /// words for some.
    @Suite(
        .enabled(if: CurlTransport.libraryVersion?.hasPrefix("7.88.") == true, "libcurl is another version"),
        .enabled(if: OpenSSL.path != nil, "openssl is not installed"), .limited)
    struct FailureTextTests {
        private struct Flight: Model {
            let number: String
            let destination: String
        }

        private struct Endpoint: Requestable {
            var base: @Sendable () throws(AtomError) -> BaseURL
            var method = HTTPMethod.get
            var requiresAuthorization = false
            var segment = "flights"

            func baseURL() throws(AtomError) -> BaseURL { try base() }
            func path() throws(AtomError) -> URLPath { try URLPath("/v1/\(segment)") }
        }

        /// A row of the table.
        private struct Row {
            let name: String
            let error: AtomError?

            /// With one host, port and address for all servers, and one date.
            var text: String {
                guard let error else { return "\(name): no error" }
                var description = error.description
                for (pattern, replacement) in [
                    (#"IP Address:127\.0\.0\.1"#, "IP Address:…"),
                    (#", (127\.0\.0\.1|::1),"#, ", 203.0.113.5,"),
                    (#"(127\.0\.0\.1|localhost):\d+"#, "api.example.com:port"),
                    (#"127\.0\.0\.1"#, "api.example.com"),
                    (#"[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \d{4} GMT"#, "…"),
                    (#"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ"#, "2026-05-01T12:00:00Z"),
                    (#"OpenSSL[^:]*: |error:[0-9A-F]+:SSL routines:[^:]*:"#, ""),
                ] {
                    description = description.replacingOccurrences(
                        of: pattern, with: replacement, options: .regularExpression)
                }
                return "| \(name) | `\(description)` | \(error.localizedDescription) |"
            }
        }

        private func row(
            _ name: String, timeout: ServiceTimeout = ServiceTimeout(), _ endpoint: Endpoint,
            trusting trust: CurlTransport.Trust = .system, _ change: (inout ServiceConfiguration) -> Void = { _ in }
        ) async throws -> Row {
            var settings = CurlTransport.Configuration()
            settings.proxy = .none
            settings.trust = trust
            var configuration = ServiceConfiguration(timeout: timeout)
            configuration.transport = try CurlTransport(configuration: settings)
            change(&configuration)
            let atom = Atom(serviceConfiguration: configuration)
            do {
                _ = try await atom.enqueue(endpoint).resume(expecting: Flight.self)
                return Row(name: name, error: nil)
            } catch {
                return Row(name: name, error: error)
            }
        }

        private func row(
            _ name: String, timeout: ServiceTimeout = ServiceTimeout(), _ response: LoopbackServer.Response
        ) async throws -> Row {
            let server = try LoopbackServer { _ in response }
            defer { server.stop() }
            return try await row(name, timeout: timeout, endpoint(of: server.port))
        }

        private func endpoint(_ scheme: BaseURLScheme = .http, of port: Int) -> Endpoint {
            Endpoint { () throws(AtomError) in try BaseURL(scheme: scheme, host: "127.0.0.1", port: port) }
        }

        private func row(
            _ name: String, _ identity: TLSServer.Identity, trusted: Bool, _ scheme: BaseURLScheme = .https
        ) async throws -> Row {
            let server = try await TLSServer(identity)
            let row = try await row(
                name, endpoint(scheme, of: server.port),
                trusting: trusted ? .only(server.certificates("authority")) : .system)
            await server.end()
            return row
        }

        private func rows() async throws -> [Row] {
            let never = Gate()
            defer { never.open() }
            let refusing = try RefusingPort()
            var rows = [
                try await row(
                    "no server has the name",
                    Endpoint { () throws(AtomError) in try BaseURL(host: "api.example.invalid") }),
                try await row(
                    "nothing listens on the port",
                    Endpoint { () throws(AtomError) in
                        try BaseURL(scheme: .http, host: "localhost", port: refusing.number)
                    }),
                // No TCP connection to a group is possible, so nothing is sent.
                try await row(
                    "there is no way to the address",
                    Endpoint { () throws(AtomError) in try BaseURL(scheme: .http, host: "224.0.0.1") }),
                try await row("the certificate is of an unknown authority", .server, trusted: false),
                try await row("the certificate has expired", .expired, trusted: true),
                try await row("the certificate is for another name", .elsewhere, trusted: true),
                try await row("http to a port for https", .server, trusted: true, .http),
                try await row(
                    "no byte for longer than `timeout.request`", timeout: ServiceTimeout(request: 0.2, resource: 30),
                    .streamed([.wait(never)])),
                try await row(
                    "no result before `timeout.resource`", timeout: ServiceTimeout(request: 30, resource: 0.2),
                    .streamed([.wait(never)])),
                try await row("the connection ends in the head", .raw("HTTP/1.1 200 OK\r\nContent-Le")),
                try await row(
                    "the connection ends in the body", .truncated(declaredLength: 100, body: Data("abc".utf8))),
                try await row("401", .status(401)),
                try await row(
                    "403 with a problem document",
                    .status(
                        403, headers: [("Content-Type", "application/problem+json")],
                        body: Data(#"{"title":"This fare can't be changed","status":403}"#.utf8))),
                try await row(
                    "404 whose body ends early",
                    .truncated(declaredLength: 100, body: Data("abc".utf8), status: 404)),
                try await row("404 with a text", .text("No such flight", status: 404)),
                try await row("429 with `Retry-After`", .empty(429, headers: [("Retry-After", "30")])),
                try await row(
                    "500 with a page",
                    .status(500, headers: [("Content-Type", "text/html")], body: Data("<html>…</html>".utf8))),
                try await row("a member is missing", .json(#"{"number":"AS1"}"#)),
                try await row("a member has another type", .json(#"{"number":1,"destination":"SEA"}"#)),
                try await row(
                    "a page instead of JSON",
                    .status(200, headers: [("Content-Type", "text/html")], body: Data("<html>…</html>".utf8))),
                try await row(
                    "the path is invalid",
                    {
                        var endpoint = endpoint(of: 1)
                        endpoint.segment = "a b"
                        return endpoint
                    }()),
            ]
            let plain = try LoopbackServer { _ in .text("hello") }
            rows.append(try await row("https to a port for http", endpoint(.https, of: plain.port)))
            plain.stop()
            rows.append(try await refusedRefresh())
            return rows
        }

        private func refusedRefresh() async throws -> Row {
            let server = try LoopbackServer { _ in .json(#"{"error":"invalid_grant"}"#, status: 400) }
            defer { server.stop() }
            let store = InMemoryTokenCredentialStore(
                TokenCredential(accessToken: "old", expiresAt: .distantPast, refreshToken: "spent"))
            let authorization = try AuthorizationEndpoint(
                scheme: .http, host: "127.0.0.1", port: server.port, path: "/oauth/token")
            var endpoint = endpoint(of: server.port)
            endpoint.requiresAuthorization = true
            return try await row("the refresh token is refused", endpoint) {
                $0.authenticationMethod = .bearer(authorization, ClientCredential(id: "app"), store)
            }
        }

        @Test("The table in the article has what is said")
        func table() async throws {
            let article = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
                .appendingPathComponent("../../../Documentation/AtomNetworking.docc/Troubleshooting.md")
            let text = try String(contentsOf: article, encoding: .utf8)
            let rows = try await rows().map(\.text)
            #expect(rows.count >= 20)
            let table = Array(
                text.components(separatedBy: "\n").drop { !$0.hasPrefix("| what happened | `description`") }
                    .dropFirst(2).prefix { $0.hasPrefix("|") })
            let missing = rows.filter { !table.contains($0) }
            #expect(table == rows, "\n\(missing.joined(separator: "\n"))")
        }
    }
#endif
