#if os(Linux)
    import AtomNetworkingTesting
    import Foundation
    import FoundationNetworking
    import Testing

    @testable import AtomNetworking

    /// Whatever a server sends, an exchange ends once, and the next one gets
    /// its own answer.
    @Suite(.serialized, .limited(minutes: 10)) struct HostileAnswerTests {
        /// One transport and one server, and the answers that they exchange.
        private struct Lane: Sendable {
            let answers: [HostileAnswer]
            let maximumSize: Int

            private func atom(_ transport: RecordingTransport) -> Atom {
                Atom(
                    .forTest(over: transport, time: SystemTimeSource()) {
                        $0.redirectLimit = nil
                        $0.maximumResponseSize = maximumSize
                    })
            }

            /// - Returns: How many answers were read, and how many weren't.
            func run() async throws -> (read: Int, failed: Int) {
                let answers = answers
                let server = try LoopbackServer { request in
                    Int(request.path.dropFirst("/hostile/".count)).map { .script(answers[$0].steps) } ?? .text("next")
                }
                defer { server.stop() }
                let transport = RecordingTransport(try CurlTransport())
                let atom = atom(transport)
                var counts = (read: 0, failed: 0)
                for (number, answer) in answers.enumerated() {
                    var endpoint = server.endpoint("/hostile/\(number)")
                    endpoint.acceptableStatusCodes = 0...999
                    if answer.mayWait { endpoint.timeout = ServiceTimeout(request: 0.3, resource: 60) }
                    let outcome = await atom.outcome(of: endpoint)
                    if outcome.error == nil { counts.read += 1 } else { counts.failed += 1 }
                    let next = await atom.outcome(of: server.endpoint("/next"))
                    // Its own answer or none, and never another's.
                    #expect(next.text == "next" || next.urlError != nil, "after \(answer.name): \(next)")
                    for recorder in await transport.take() {
                        #expect(recorder.violations == [], "\(answer.name)")
                        #expect(recorder.body.count <= maximumSize + (4 << 20), "\(answer.name)")
                    }
                }
                return counts
            }
        }

        /// Runs the answers in a few lanes at once.
        private func run(
            _ answers: [HostileAnswer], maximumSize: Int = 1 << 20
        ) async throws -> (read: Int, failed: Int) {
            let lanes = 8
            return try await withThrowingTaskGroup(of: (read: Int, failed: Int).self) { group in
                for lane in 0..<lanes {
                    let mine = stride(from: lane, to: answers.count, by: lanes).map { answers[$0] }
                    group.addTask { try await Lane(answers: mine, maximumSize: maximumSize).run() }
                }
                return try await group.reduce(into: (read: 0, failed: 0)) {
                    $0.read += $1.read
                    $0.failed += $1.failed
                }
            }
        }

        @Test(
            "An answer that no server should send ends once, and the next one is its own",
            arguments: HostileAnswer.Family.allCases)
        func family(_ family: HostileAnswer.Family) async throws {
            let answers = HostileAnswer.all(family)
            let counts = try await run(answers)
            print("hostile answers: \(family): \(answers.count), of which \(counts.read) were read")
            #expect(counts.read + counts.failed == answers.count)
        }

        @Test(
            "A status line of HTTP/2 makes no connection of HTTP/1.1 carry several requests",
            arguments: ["HTTP/2 200 OK", "HTTP/2.0 200 OK", "HTTP/2 103 Hint\r\n\r\nHTTP/1.1 200 OK"])
        func pretendedHTTP2(head: String) async throws {
            let (gate, waiting) = (Gate(), Locked(0))
            // It answers when all of a crowd have come, which needs a connection each.
            let server = try LoopbackServer { request in
                if request.path == "/two" {
                    return .script([.write(Data("\(head)\r\nContent-Length: 5\r\n\r\nfirst".utf8))])
                }
                waiting.with {
                    $0 += 1
                    if $0 == 6 { gate.open() }
                }
                return .text(request.path).after(gate)
            }
            defer { server.stop() }
            let transport = try CurlTransport()
            let recorder = await transport.run(try .to(server, "/two"))
            #expect(recorder.failure != nil && recorder.violations == [], "\(recorder.events)")
            await withTaskGroup(of: Void.self) { group in
                for number in 0..<6 {
                    group.addTask {
                        let recorder = (try? TransportRequest.to(server, "/\(number)")).map { transport.begin($0) }
                        #expect(await recorder?.end().text == "/\(number)")
                    }
                }
            }
        }

        @Test("Answers with random faults end once", arguments: [UInt64(1), 2, 3])
        func mutations(_ seed: UInt64) async throws {
            var generator = SeededGenerator(seed: seed)
            let normal = NormalAnswer.all.map(\.bytes)
            let answers = (0..<200).map { number in
                HostileAnswer.closing(
                    "seed \(seed), answer \(number)", Self.mutated(normal[number % normal.count], &generator))
            }
            let counts = try await run(answers)
            print("hostile answers: seed \(seed): \(answers.count), of which \(counts.read) were read")
        }

        private static func mutated(_ bytes: Data, _ generator: inout SeededGenerator) -> Data {
            var bytes = Array(bytes)
            for _ in 0..<Int.random(in: 1...4, using: &generator) {
                let place = Int.random(in: 0..<bytes.count, using: &generator)
                let end = min(place + Int.random(in: 1...8, using: &generator), bytes.count)
                switch Int.random(in: 0..<6, using: &generator) {
                case 0: bytes[place] = UInt8.random(in: 0...255, using: &generator)
                case 1: bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
                case 2: bytes.insert(UInt8.random(in: 0...255, using: &generator), at: place)
                case 3: bytes.insert(contentsOf: bytes[place..<end], at: place)
                case 4 where end - place < bytes.count: bytes.removeSubrange(place..<end)
                default: bytes.swapAt(place, Int.random(in: 0..<bytes.count, using: &generator))
                }
            }
            return Data(bytes)
        }

        @Test("An answer that ends early is a failure at every octet", arguments: NormalAnswer.all, [false, true])
        func ends(_ answer: NormalAnswer, withReset: Bool) async throws {
            let server = try LoopbackServer { request in
                guard let count = Int(request.path.dropFirst("/cut/".count)) else { return .text("next") }
                return .script([.write(answer.bytes.prefix(count)), withReset ? .reset : .close])
            }
            defer { server.stop() }
            let transport = try CurlTransport()
            for count in 0...answer.bytes.count {
                let recorder = await transport.run(try .to(server, "/cut/\(count)"))
                #expect(recorder.violations == [])
                // A reset may overtake the bytes before it.
                if !withReset {
                    // Some versions of libcurl don't wait for the very last octets.
                    if !(answer.firstComplete..<answer.bytes.count).contains(count) || !answer.isFramed {
                        #expect((recorder.failure == nil) == (count >= answer.firstComplete), "\(count) bytes")
                    }
                    #expect((recorder.status != nil) == (count >= answer.headSize), "\(count) bytes")
                    if let failure = recorder.failure {
                        let hasStatus = count >= answer.statusSize
                        #expect(failure.delivery == (hasStatus ? .answered : .maybeSent), "\(count) bytes")
                        #expect(recorder.urlError?.code == .networkConnectionLost, "\(count) bytes: \(failure)")
                    }
                }
                #expect(answer.body.starts(with: recorder.body))
                if recorder.failure == nil, answer.isFramed { #expect(recorder.body == answer.body) }
                let next = await transport.run(try .to(server, "/next"))
                #expect(next.text == "next" || next.urlError?.code == .networkConnectionLost)
            }
        }

        @Test("A head without end is given up at its limit", arguments: HostileAnswer.all(.endless).map(\.name))
        func endlessHead(_ name: String) async throws {
            let answer = try #require(HostileAnswer.all(.endless).first { $0.name == name })
            let server = try LoopbackServer { _ in .script(answer.steps) }
            defer { server.stop() }
            let recorder = try await CurlTransport().run(try .to(server))
            #expect(recorder.violations == [])
            let codes: [URLError.Code] = [.cannotParseResponse, .cannotDecodeRawData]
            #expect(recorder.urlError.map { codes.contains($0.code) } == true, "\(recorder.events)")
            #expect(await server.waitForOpenConnections(atMost: 0))
        }

        @Test("A compressed body counts as large as it unpacks")
        func bombs() async {
            // In a process of its own: nothing else takes memory there.
            await #expect(processExitsWith: .success) {
                let bombs = [
                    ("gzip", Deflate.gzipHead + Deflate.bomb(500_000)),
                    ("deflate", Data([0x78, 0x01]) + Deflate.bomb(500_000)),
                    ("br", Deflate.brotliBomb), ("zstd", Deflate.zstdBomb(512)),
                ]
                for (coding, bytes) in bombs {
                    let server = try LoopbackServer { request in
                        // libcurl may have been built without it.
                        request["Accept-Encoding"]?.contains(coding) == true
                            ? .status(200, headers: [("Content-Encoding", coding)], body: bytes) : .empty(406)
                    }
                    defer { server.stop() }
                    let before = ThisProcess.residentBytes
                    let atom = Atom(.forTest(over: try CurlTransport()) { $0.maximumResponseSize = 1 << 20 })
                    let outcome = await atom.outcome(of: server.endpoint())
                    if outcome.response?.statusCode == 406 { continue }
                    #expect(outcome.urlError?.code == .dataLengthExceedsMaximum, "\(coding): \(outcome)")
                    #expect(ThisProcess.residentBytes - before < 128 << 20, "\(coding)")
                }
            }
        }

        @Test("A hundred thousand tiny chunks arrive whole")
        func tinyChunks() async throws {
            let body = Data((0..<100_000).map { UInt8(0x61 + $0 % 26) })
            let server = try LoopbackServer { _ in .chunked(body.map { Data([$0]) }) }
            defer { server.stop() }
            let recorder = try await CurlTransport().run(try .to(server))
            #expect(recorder.violations == [] && recorder.failure == nil)
            #expect(recorder.body == body)
        }

        @Test("An answer that comes before the request has been read is the request's", arguments: [false, true])
        func early(withReset: Bool) async throws {
            let server = try ByteServer { line in
                line.write("HTTP/1.1 413 Content Too Large\r\nContent-Length: 5\r\nConnection: close\r\n\r\nlarge")
                if withReset {
                    _ = line.read()
                    return .reset
                }
                line.drain()
                return .close
            }
            defer { server.stop() }
            let transport = try CurlTransport()
            let base = try BaseURL(scheme: .http, host: "127.0.0.1", port: server.port)
            for size in [0, 10, 1 << 20] {
                let request = try TransportRequest(
                    method: "POST", base: base, path: URLPath("/x"), body: Data(repeating: 0x61, count: size))
                let recorder = await transport.run(request)
                #expect(recorder.violations == [])
                if !withReset {
                    #expect(recorder.status == 413 && recorder.text == "large", "\(size): \(recorder.events)")
                }
            }
        }

        @Test("Nothing is left of a thousand hostile answers")
        func leftovers() async {
            await #expect(processExitsWith: .success) {
                let answers = NormalAnswer.all.flatMap { answer in
                    (0...answer.bytes.count).map { answer.bytes.prefix($0) }
                }
                let server = try LoopbackServer { request in
                    request.path == "/warm" ? .text("warm") : .raw(answers[request.receivedAt % answers.count])
                }
                var transport: CurlTransport? = try CurlTransport()
                _ = await transport?.run(try .to(server, "/warm"))
                #expect(await server.waitForOpenConnections(atMost: 1))
                let before = ThisProcess.descriptorCount
                for _ in 0..<1_000 { _ = await transport?.run(try .to(server)) }
                #expect(await eventually { ThisProcess.descriptorCount <= before })
                transport = nil
                #expect(await eventually { ThisProcess.transportThreads == 0 })
                server.stop()
            }
        }

        @Test("A head that begins with a folded line reads nothing of the answer before")
        func foldedFirst() async {
            // libcurl 7.83 to 8.0 would follow a pointer to a freed field.
            await #expect(processExitsWith: .success) {
                let server = try LoopbackServer { request in
                    request.path == "/folded"
                        ? .script([.write(text: "HTTP/1.1 200 OK\r\n folded: first\r\nContent-Length: 0\r\n\r\n")])
                        : .text("next", headers: (0..<50).map { ("X-\($0)", String(repeating: "y", count: $0 * 40)) })
                }
                let transport = try CurlTransport()
                for _ in 0..<100 {
                    #expect(await transport.run(try .to(server, "/next")).text == "next")
                    #expect(await transport.run(try .to(server, "/folded")).violations == [])
                }
                server.stop()
            }
        }

        @Test("An answer that nobody asked for is not the next request's")
        func unasked() async throws {
            let gate = Gate()
            let server = try LoopbackServer { request in
                guard request.path == "/first" else { return .text("next") }
                return .script([
                    .write(text: "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"), .wait(gate),
                    .write(text: "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nforged"),
                ])
            }
            defer { server.stop() }
            let transport = try CurlTransport()
            #expect(await transport.run(try .to(server, "/first")).text == "hello")
            gate.open()
            #expect(await eventually { server.requestsInProgress == 0 })
            let next = await transport.run(try .to(server, "/next"))
            #expect(next.violations == [])
            #expect(next.text == "next" && next.failure == nil)
        }

        @Test("Trailers that are too large end an exchange also after it was paused")
        func trailersOfAPausedBody() async throws {
            let line = "X: \(String(repeating: "y", count: 10_000))\r\n"
            let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\(String(repeating: line, count: 23))\r\n"
            let chunks = String(repeating: "400\r\n\(String(repeating: "z", count: 1_024))\r\n", count: 264)
            let trailers = "0\r\n\(String(repeating: line, count: 4))\r\n"
            for shift in 0..<8 {
                // The end of the body and the trailers are to be in one of the parts that
                // libcurl reads, wherever these begin.
                let padding = "1;\(String(repeating: "x", count: shift * 8_192))\r\nz\r\n"
                let server = try LoopbackServer { _ in .script([.write(text: head + padding + chunks + trailers)]) }
                defer { server.stop() }
                let gate = Gate()
                let recorder = EventRecorder { gate.wait() }
                let started = try CurlTransport().begin(.to(server), recorder: recorder)
                #expect(await eventually { server.requestsInProgress == 0 && !recorder.events.isEmpty })
                gate.open()
                #expect(await started.end().failure != nil, "\(shift)")
            }
        }

        // MARK: - The answers that end the process in Foundation

        @Test("A response that ends in the middle of its head is a lost connection")
        func anEndInTheMiddleOfTheHead() async throws {
            let server = try LoopbackServer { _ in .raw("HTTP/1.1 200 OK\r\nA: b") }
            defer { server.stop() }
            let outcome = await Atom(.forTest(over: try CurlTransport())).outcome(of: server.endpoint())
            #expect(outcome.urlError?.code == .networkConnectionLost)
            #expect(outcome.error?.delivery == .answered)
            #expect(outcome.error?.description.contains("before the whole head") == true)
        }

        @Test("A chunked body with trailers arrives, and the trailers are no header fields")
        func aChunkedBodyWithTrailers() async throws {
            let answer = LoopbackServer.Response.chunked([Data("hi".utf8)], trailers: [("X-Checksum", "1")])
            let server = try LoopbackServer { _ in answer }
            defer { server.stop() }
            let outcome = await Atom(.forTest(over: try CurlTransport())).outcome(of: server.endpoint())
            #expect(outcome.text == "hi")
            #expect(outcome.response?.headerFields["X-Checksum"] == nil)
        }

        @Test("A redirect to an IPv6 address with a zone ends as a response or an error")
        func aLocationWithAZone() async throws {
            let server = try LoopbackServer { _ in .redirect(302, location: "//[::1%25eth0]:80/x") }
            defer { server.stop() }
            let outcome = await Atom(.forTest(over: try CurlTransport())).outcome(of: server.endpoint())
            #expect(outcome.response?.statusCode == 302 || outcome.error != nil)
            #expect(server.requestCount == 1)
        }
    }

    extension NormalAnswer: CustomTestStringConvertible {}
#endif
