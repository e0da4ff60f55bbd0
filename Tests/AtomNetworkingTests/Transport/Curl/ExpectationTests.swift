#if os(Linux)
    import AtomNetworkingTesting
    import Foundation
    import FoundationNetworking
    import Testing

    @testable import AtomNetworking

    /// `Expect: 100-continue` for large bodies (RFC 9110 §10.1.1).
    @Suite(.limited) struct ExpectationTests {
        private static let size = 2_000_000

        /// libcurl 7.68 hands a 417 over, so nothing is expected with it.
        private static let isExpecting = CurlTransport.libraryVersion?.hasPrefix("7.68.") == false

        private func upload(
            to server: ByteServer, isRepeatable: Bool = true, patience: Int = 120_000, then next: WireEndpoint? = nil,
            _ change: (inout ServiceConfiguration) -> Void = { _ in }
        ) async -> Result<AtomResponse, AtomError> {
            var endpoint = WireEndpoint(host: "127.0.0.1", port: server.port, rawPath: "/up", method: .post)
            endpoint.body = .stream(length: Int64(Self.size), isRepeatable: isRepeatable) {
                AsyncStream<Data> { continuation in
                    continuation.yield(Data(count: Self.size))
                    continuation.finish()
                }
            }
            // Also on a machine where the server takes long to answer.
            var settings = CurlTransport.Configuration()
            settings.expectationTimeout = patience
            let transport = Result { () throws(AtomError) in try CurlTransport(configuration: settings) }
            return switch transport {
            case .success(let transport):
                await outcome(of: [endpoint] + (next.map { [$0] } ?? []), over: Atom(.forTest(over: transport, change)))
            case .failure(let error): .failure(error)
            }
        }

        /// The last of them.
        private func outcome(of endpoints: [WireEndpoint], over atom: Atom) async -> Result<AtomResponse, AtomError> {
            var outcome: Result<AtomResponse, AtomError> = .failure(.unexpected)
            for endpoint in endpoints { outcome = await atom.outcome(of: endpoint) }
            return outcome
        }

        /// Reads a body of the size.
        private static func readBody(_ line: ByteServer.Line) -> Bool {
            var count = 0
            while count < size {
                let part = line.read()
                guard !part.isEmpty else { return false }
                count += part.count
            }
            return count == size
        }

        @Test func a401ComesBeforeTheBody() async throws {
            let heads = Locked<[String]>([])
            let received = Locked(0)
            let server = try ByteServer { line in
                let head = line.readHead()
                heads.with { $0.append(head) }
                if head.contains("/token") {
                    let answer = #"{"access_token":"new","token_type":"Bearer","expires_in":3600}"#
                    line.write("HTTP/1.1 200 OK\r\nContent-Length: \(answer.utf8.count)\r\n\r\n\(answer)")
                } else if head.contains("Bearer old") {
                    line.write("HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n")
                    // Nothing may follow.
                    received.with { $0 = line.read().count }
                } else {
                    line.write("HTTP/1.1 100 Continue\r\n\r\n")
                    let isWhole = Self.readBody(line)
                    line.write("HTTP/1.1 \(isWhole ? 200 : 400) X\r\nContent-Length: 0\r\n\r\n")
                }
                return .close
            }
            defer { server.stop() }
            let store = InMemoryTokenCredentialStore(
                TokenCredential(accessToken: "old", expiresAt: .distantFuture, refreshToken: "r"))
            let authorization = try AuthorizationEndpoint(
                scheme: .http, host: "127.0.0.1", port: server.port, path: "/token")
            // The body can be read only once, and nothing of it has been read.
            let outcome = await upload(to: server, isRepeatable: false) {
                $0.authenticationMethod = .bearer(authorization, ClientCredential(id: "app"), store)
            }
            guard Self.isExpecting else {
                #expect(outcome.error != nil && heads.value.allSatisfy { !$0.contains("Expect:") })
                return
            }
            #expect(outcome.response?.statusCode == 200)
            #expect(received.value == 0)
            #expect(heads.value.filter { $0.contains("/up") }.allSatisfy { $0.contains("Expect: 100-continue") })
            #expect(heads.value.count == 3)
        }

        /// A server that answers before the body either closes the connection or goes on reading (RFC 9110 §10.1.1).
        @Test(arguments: [
            "200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n",
            "404 Not Found\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nno\r\n0\r\n\r\n",
            "417 Expectation Failed\r\nContent-Length: 2\r\n\r\nno",
        ])
        func noOtherRequestIsTakenForTheBodyThatWasNotSent(answer: String) async throws {
            let taken = Locked(Data())
            let server = try ByteServer { line in
                while true {
                    let head = line.readHead()
                    guard !head.isEmpty else { return .close }
                    if head.contains("Expect:") {
                        line.write("HTTP/1.1 \(answer)")
                        let rest = line.read()
                        taken.with { $0 += rest }
                        return .close
                    }
                    guard !head.contains("/up") || Self.readBody(line) else { return .close }
                    line.write("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nnext")
                }
            }
            defer { server.stop() }
            let next = WireEndpoint(host: "127.0.0.1", port: server.port, rawPath: "/next")
            #expect(await upload(to: server, patience: 1_000, then: next).text == "next")
            // Zeros are the body, which the newest libcurl sends after all, when it has waited.
            #expect(taken.value.allSatisfy { $0 == 0 })
        }

        @Test func a417ForTheAppsOwnExpectationIsItsAnswer() async throws {
            let server = try ByteServer { line in
                _ = line.readHead()
                line.write("HTTP/1.1 417 No\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nno\r\n0\r\n\r\n")
                _ = line.read()
                return .close
            }
            defer { server.stop() }
            var endpoint = WireEndpoint(host: "127.0.0.1", port: server.port, rawPath: "/up", method: .put)
            endpoint.body = .stream(length: Int64(Self.size)) { AsyncStream<Data> { $0.yield(Data(count: Self.size)) } }
            endpoint.headerItems = [HeaderItem(name: "Expect", value: "100-continue")]
            var settings = CurlTransport.Configuration()
            settings.expectationTimeout = 120_000
            let atom = Atom(.forTest(over: try CurlTransport(configuration: settings)))
            #expect(await atom.outcome(of: endpoint).response?.statusCode == 417)
        }

        @Test(arguments: ["503 Busy", "417 Expectation Failed"])
        func anErrorInTheMiddleOfABodyIsTheCallersAndNothingIsSentAgain(status: String) async throws {
            let heads = Locked(0)
            let server = try ByteServer { line in
                _ = line.readHead()
                heads.with { $0 += 1 }
                line.write("HTTP/1.1 100 Continue\r\n\r\n")
                _ = line.read()
                // libcurl only wants to send the body of a 417 again if the connection stays.
                let field = status.hasPrefix("417") ? "" : "Connection: close\r\n"
                line.write("HTTP/1.1 \(status)\r\n\(field)Content-Length: 4\r\n\r\nbusy")
                line.drain()
                return .close
            }
            defer { server.stop() }
            for isRepeatable in [true, false] {
                let outcome = await upload(to: server, isRepeatable: isRepeatable)
                #expect(outcome.response?.statusCode == Int(status.prefix(3)))
                // libcurl leaves out that of a 417.
                #expect(outcome.text == "busy" || status.hasPrefix("417"))
            }
            #expect(heads.value == 2)
        }

        @Test func a417IsRepeatedWithoutTheExpectation() async throws {
            let heads = Locked<[String]>([])
            let server = try ByteServer { line in
                while true {
                    let head = line.readHead()
                    guard !head.isEmpty else { return .close }
                    heads.with { $0.append(head) }
                    if head.contains("Expect:") {
                        line.write("HTTP/1.1 417 Expectation Failed\r\nContent-Length: 2\r\n\r\nno")
                    } else {
                        let isWhole = Self.readBody(line)
                        line.write("HTTP/1.1 \(isWhole ? 200 : 400) X\r\nContent-Length: 3\r\n\r\nyes")
                    }
                }
            }
            defer { server.stop() }
            // The handle of the first one may be used for the second, which asks again.
            var next = WireEndpoint(host: "127.0.0.1", port: server.port, rawPath: "/up", method: .post)
            next.body = .data(Data(count: Self.size))
            let outcome = await upload(to: server, isRepeatable: false, then: next)
            #expect(outcome.response?.statusCode == 200)
            #expect(outcome.text == "yes")
            let expected = Self.isExpecting ? [true, false, true, false] : [false, false]
            #expect(heads.value.map { $0.contains("Expect:") } == expected)
        }
    }
#endif
