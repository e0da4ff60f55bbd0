#if os(Linux)
    import AtomNetworkingTesting
    import Foundation
    import Testing

    @testable import AtomNetworking
    @testable import AtomNetworkingExports

    /// The SDK and the real `curl`, against the same server.
    @Suite(.limited(minutes: 10), .enabled(if: ShellProgram.isInstalled("curl"), "curl isn't installed"))
    struct CurlCommandWireTests {
        /// Sends a request with the SDK, and then its commands with `curl`.
        ///
        /// - Returns: Both requests as the server received them, without what the
        ///   transport adds on its own.
        private func both(
            _ endpoint: WireEndpoint, on server: LoopbackServer, in folder: TransferFolder
        ) async throws -> (sdk: ComparedRequest, curl: ComparedRequest)? {
            let commands = Locked<[String]>([])
            let isWritten = Signal()
            let atom = Atom(
                .forTest(over: try CurlTransport()) {
                    $0.observers = [
                        CurlCommandObserver(showing: .everything) { command in
                            commands.with { $0.append(command) }
                            isWritten.raise()
                        }
                    ]
                })
            let outcome = await atom.outcome(of: endpoint)
            guard case .success = outcome else {
                Issue.record("\(endpoint): \(outcome)")
                return nil
            }
            await isWritten.wait()
            let command = try #require(commands.value.first)
            let ending = try await ShellProgram.run(command, in: folder.url)
            #expect(ending.status == 0, "\(command)")
            let requests = server.requests.suffix(2).map { ComparedRequest($0, of: endpoint) }
            guard commands.value.count == 1, requests.count == 2 else {
                Issue.record("\(commands.value)")
                return nil
            }
            return (requests[0], requests[1])
        }

        @Test("curl sends the same bytes as the SDK", arguments: [1, 2, 3, 4])
        func sameBytes(seed: UInt64) async throws {
            let server = try LoopbackServer(ipv6: seed == 4) { _ in .text("ok") }
            defer { server.stop() }
            let folder = try TransferFolder()
            var generator = SeededGenerator(seed: seed)
            let rounds = TestExtent.isWhole ? 50 : 12
            for round in 0..<rounds {
                let endpoint = WireEndpoint.random(on: server, &generator)
                guard let (sdk, curl) = try await both(endpoint, on: server, in: folder) else { continue }
                #expect(sdk.method == curl.method, "\(seed) \(round)")
                #expect(sdk.target == curl.target, "\(seed) \(round)")
                #expect(sdk.headers == curl.headers, "\(seed) \(round)")
                #expect(sdk.body == curl.body, "\(seed) \(round)")
            }
            #expect(server.requestCount == 2 * rounds)
            #expect(server.malformedRequests == 0)
        }

        @Test("The content of a file is sent from its path")
        func file() async throws {
            let server = try LoopbackServer { _ in .text("ok") }
            defer { server.stop() }
            let folder = try TransferFolder()
            let file = folder.url.appendingPathComponent("it's a $file")
            try Data([0, 1, 0x0D, 0x0A, 0xFF]).write(to: file)
            var endpoint = server.endpoint("/up", method: .put)
            endpoint.body = .file(file, contentType: "image/png")
            let (sdk, curl) = try #require(try await both(endpoint, on: server, in: folder))
            #expect(curl.body == Data([0, 1, 0x0D, 0x0A, 0xFF]))
            #expect(sdk.body == curl.body)
            #expect(sdk.headers == curl.headers)
        }

        @Test("Nothing that is hidden makes the command another one")
        func hidden() async throws {
            let server = try LoopbackServer { _ in .text("ok") }
            defer { server.stop() }
            let folder = try TransferFolder()
            let (some, harmless) = (Signal(), Signal())
            let commands = Locked<[RequestDisclosure: String]>([:])
            let atom = Atom.forTest(over: .platformDefault) {
                $0.observers = [
                    CurlCommandObserver { command in
                        commands.with { $0[.allButCredentials] = command }
                        some.raise()
                    },
                    CurlCommandObserver(showing: .onlyHarmless) { command in
                        commands.with { $0[.onlyHarmless] = command }
                        harmless.raise()
                    },
                ]
            }
            var endpoint = server.endpoint("/x", method: .post, headers: ["Authorization": "Bearer s'; exit 9; '"])
            endpoint.body = .form(["password": "'; exit 9; '", "a": "b"])
            endpoint.queryItems = ["sig": "$(exit 9)"]
            _ = await atom.outcome(of: endpoint)
            await some.wait()
            await harmless.wait()
            for disclosure in [RequestDisclosure.allButCredentials, .onlyHarmless] {
                let command = try #require(commands.value[disclosure])
                #expect(try await ShellProgram.run(command, in: folder.url).status == 0)
            }
            let requests = server.requests
            try #require(requests.count == 3)
            #expect(requests[1].target == "/x?sig=HIDDEN")
            #expect(requests[1]["Authorization"] == "Bearer HIDDEN")
            #expect(requests[1].formItems.map(\.value) == ["HIDDEN", "b"])
            #expect(requests[2].target == "/x?sig=HIDDEN")
            #expect(requests[2].text == "HIDDEN")
        }
    }

    /// A request as the server received it, without what the transport adds by
    /// itself, and `curl` doesn't.
    private struct ComparedRequest {
        let method: String
        let target: String
        let headers: [LoopbackServer.Field]
        let body: Data

        init(_ request: LoopbackServer.Request, of endpoint: WireEndpoint) {
            let own = HeaderFields((endpoint.headerItems ?? []).map { .init(name: $0.name, value: $0.value) })
            method = request.method
            target = request.target
            body = request.body
            headers = request.headers.filter { field in
                own.contains(field.name)
                    || !["user-agent", "accept-encoding", "expect"].contains(field.name.lowercased())
            }
        }
    }

    extension WireEndpoint {
        /// Methods, paths, queries, fields and bodies that shells and `curl`
        /// might change.
        fileprivate static func random(
            on server: LoopbackServer, _ generator: inout SeededGenerator
        ) -> WireEndpoint {
            func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &generator) < percent }
            func one<Value>(_ values: [Value]) -> Value { values[Int.random(in: values.indices, using: &generator)] }
            func text() -> String { (0..<Int.random(in: 0...4, using: &generator)).map { _ in one(pieces) }.joined() }
            var endpoint = server.endpoint(one(paths))
            if chance(50) { endpoint.queryItems = (0..<3).map { QueryItem(name: "q\($0)\(text())", value: text()) } }
            var fields = (0..<Int.random(in: 0...5, using: &generator)).map { _ in
                HeaderItem(name: one(names), value: text())
            }
            if chance(20) { fields.append(HeaderItem(name: "X-Empty", value: "")) }
            endpoint.headerItems = fields
            let name = one(methods)
            endpoint.method = .token(name)
            guard name != "GET", name != "HEAD", chance(75) else { return endpoint }
            let type = one(["application/json", "text/plain", "application/x-www-form-urlencoded"])
            endpoint.body = .data(body(&generator), contentType: type)
            return endpoint
        }

        private static func body(_ generator: inout SeededGenerator) -> Data {
            func bytes(_ count: Int) -> Data {
                Data((0..<count).map { _ in UInt8.random(in: .min ... .max, using: &generator) })
            }
            switch Int.random(in: 0..<9, using: &generator) {
            case 0: return Data()
            case 1: return Data("@/etc/hostname".utf8)
            case 2: return Data(#"{"it's": "50%\\n \u00e9 $HOME `id`"}"#.utf8)
            case 3: return Data("-d a\nb\r\n\tc\n\n".utf8)
            case 4: return bytes(Int.random(in: 1...300, using: &generator))
            case 5: return bytes(200_000)
            case 6: return Data(String(repeating: "it's 100% é\n", count: 9_000).utf8)
            case 7: return Data([0])
            default: return Data(pieces.joined(separator: "&").utf8)
            }
        }

        private static let methods = [
            "GET", "GET", "HEAD", "POST", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "PURGE", "M-SEARCH", "a'b", "-X",
            "$PATH", "post",
        ]
        private static let paths = [
            "/", "/a%2Fb", "/it's", "/a;b=c,d", "/(x)", "/~user/x", "/users/@me", "/v1/$batch", "/café", "/a%20b/",
            "/x!y*z", "/a%27%22%60", "/{a,b}", "/[1-3]", "/a%5B1-3%5D",
        ]
        private static let names = [
            "X-A", "x-b", "X-A", "Accept", "User-Agent", "Accept-Language", "Authorization", "Cookie", "X-'\'", "-X",
            "Accept-Encoding", "Content-Language", "Referer",
        ].filter { HTTPGrammar.isToken($0) }
        private static let pieces = [
            "it's", "\"", " ", "$HOME", "`id`", "$(id)", "\\", "!!", "é", "…", "'\u{301}", ";", "@x", "%s", "%41", "#",
            "&", "=", "+", "\u{1F469}\u{200D}\u{1F680}", "\u{85}", "\u{202E}", "\t", "*", "~", "{a,b}", "[1-2]", "/",
            "?",
            "-",
        ]
    }
#endif
