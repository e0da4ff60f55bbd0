#if os(Linux)
    import AtomNetworkingTesting
    import Foundation
    import NIOSSL
    import Testing

    @testable import AtomNetworking

    /// The SDK's own transport with HTTP/2, for which only this package has a
    /// server.
    @Suite(.enabled(if: OpenSSL.path != nil, "openssl is not installed"), .timeLimit(.minutes(5)))
    struct HTTP2OverLibcurlTests {
        private func transport(_ server: HTTP2Server) throws -> CurlTransport {
            let pem = try server.certificate.toDERBytes()
            var configuration = CurlTransport.Configuration()
            configuration.trust = .only(
                try CurlTransport.Certificates(
                    pem: """
                        -----BEGIN CERTIFICATE-----
                        \(Data(pem).base64EncodedString(options: .lineLength64Characters))
                        -----END CERTIFICATE-----
                        """))
            return try CurlTransport(configuration: configuration)
        }

        private func outcomes(_ atom: Atom, _ server: HTTP2Server, _ count: Int) async -> [String?] {
            await withTaskGroup(of: String?.self) { group in
                for index in 0..<count {
                    group.addTask {
                        var endpoint = WireEndpoint(
                            scheme: .https, host: "localhost", port: server.port, rawPath: "/echo")
                        endpoint.method = .post(Data("body \(index)".utf8))
                        return await atom.outcome(of: endpoint).text
                    }
                }
                return await group.reduce(into: []) { $0.append($1) }
            }
        }

        @Test("Many requests share one connection, from the first on")
        func shared() async throws {
            let server = try HTTP2Server()
            defer { server.stop() }
            let transport = try transport(server)
            let atom = Atom(.forTest(over: transport))
            // Of more, NIO counts libcurl 7.88's late window updates as an attack
            // and ends the connection.
            let expected = Set((0..<150).map { "body \($0)" })
            #expect(Set(await outcomes(atom, server, 150).compactMap(\.self)) == expected)
            #expect(server.connections == 1)
            #expect(Set(server.requests.map(\.connection)).count == 1)
        }

        @Test("The number of exchanges follows the protocol")
        func exchanges() async throws {
            let server = try HTTP2Server()
            defer { server.stop() }
            let transport = try transport(server)
            #expect(transport.exchangesPerOrigin == 6)
            let recorder = EventRecorder()
            let request = try TransportRequest(
                base: BaseURL(scheme: .https, host: "localhost", port: server.port), path: URLPath("/echo"))
            _ = transport.start(request) { recorder.receive($0) }
            #expect(await eventually { recorder.terminals > 0 })
            let head = recorder.events.compactMap { if case .response(let head) = $0 { head } else { nil } }.first
            #expect(head?.exchangesPerOrigin == 100)
        }

        @Test("A stream that is reset fails alone")
        func reset() async throws {
            let server = try HTTP2Server()
            defer { server.stop() }
            let transport = try transport(server)
            let atom = Atom(.forTest(over: transport))
            let broken = WireEndpoint(scheme: .https, host: "localhost", port: server.port, rawPath: "/reset")
            async let failure = atom.outcome(of: broken)
            #expect(await outcomes(atom, server, 50).allSatisfy { $0?.hasPrefix("body ") == true })
            #expect(await failure.error != nil)
            #expect(server.connections == 1)
        }

        @Test("A cancelled exchange leaves the connection to the others")
        func cancelled() async throws {
            let server = try HTTP2Server()
            defer { server.stop() }
            let transport = try transport(server)
            let atom = Atom(.forTest(over: transport))
            let hanging = WireEndpoint(scheme: .https, host: "localhost", port: server.port, rawPath: "/hang")
            let tasks = (0..<5).map { _ in Task { await atom.outcome(of: hanging) } }
            #expect(await eventually { server.requests.count == 5 })
            for task in tasks { task.cancel() }
            for task in tasks { #expect(await task.value.isCancelled) }
            #expect(await outcomes(atom, server, 50).allSatisfy { $0?.hasPrefix("body ") == true })
            #expect(server.connections == 1)
        }
    }
#endif
