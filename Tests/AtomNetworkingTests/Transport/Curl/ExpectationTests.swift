#if os(Linux)
    import AtomNetworkingTesting
    import Foundation
    import FoundationNetworking
    import Testing

    @testable import AtomNetworking

    /// `Expect: 100-continue` for large bodies (RFC 9110 §10.1.1).
    @Suite(.timeLimit(.minutes(5))) struct ExpectationTests {
        private static let size = 2_000_000

        /// libcurl 7.68 hands a 417 over, so nothing is expected with it.
        private static let isExpecting = CurlTransport.libraryVersion?.hasPrefix("7.68.") == false

        private func upload(
            to server: ByteServer, isRepeatable: Bool = true, _ change: (inout ServiceConfiguration) -> Void = { _ in }
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
            settings.expectationTimeout = 120_000
            let transport = Result { () throws(AtomError) in try CurlTransport(configuration: settings) }
            return switch transport {
            case .success(let transport):
                await Atom(.forTest(over: transport, change)).outcome(of: endpoint)
            case .failure(let error): .failure(error)
            }
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

        @Test func anErrorInTheMiddleOfABodyIsTheCallersAndNothingIsSentAgain() async throws {
            let heads = Locked(0)
            let server = try ByteServer { line in
                _ = line.readHead()
                heads.with { $0 += 1 }
                line.write("HTTP/1.1 100 Continue\r\n\r\n")
                _ = line.read()
                line.write("HTTP/1.1 503 Busy\r\nConnection: close\r\nContent-Length: 4\r\n\r\nbusy")
                line.drain()
                return .close
            }
            defer { server.stop() }
            for isRepeatable in [true, false] {
                let outcome = await upload(to: server, isRepeatable: isRepeatable)
                #expect(outcome.response?.statusCode == 503)
                #expect(outcome.text == "busy")
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
            let outcome = await upload(to: server, isRepeatable: false)
            #expect(outcome.response?.statusCode == 200)
            #expect(outcome.text == "yes")
            #expect(heads.value.count == (Self.isExpecting ? 2 : 1))
        }
    }
#endif
