import AtomNetworking
import Foundation

extension TransportTrial {
    func eventsInOrder() async throws {
        let answers: [LoopbackServer.Response] = [
            .json("{}"), .empty(204), .generated(length: 300_000, chunked: true), .empty(304),
            .text("x", status: 500), .redirect(302, location: "/y"), .empty(302), .text("x").closing(),
        ]
        try await with(
            { answers[min($0.receivedAt, answers.count - 1)] },
            run: { server, transport in
                for answer in answers {
                    let recorder = await run(try request(server), over: transport)
                    findings.expect(
                        recorder.isFinished && recorder.response?.statusCode == answer.statusCode,
                        "a \(answer.statusCode) ended with: \(recorder.events.last.map { "\($0)" } ?? "nothing")")
                }
            })
    }

    func oneEventAtATime() async throws {
        // Both directions at once.
        let body = Data(repeating: 7, count: 1_000_000)
        try await with(
            { _ in .generated(length: 1_000_000, chunk: 1_000, chunked: true) },
            run: { server, transport in
                let recorders = try (0..<4).map { _ in
                    start(try request(server, method: "PUT", body: body), over: transport)
                }
                for recorder in recorders { _ = await recorder.hasEnded(within: patience) }
            })
    }

    func brokenResponsesFail() async throws {
        let text = LoopbackServer.Response.text("hello, world")
        let faults: [(String, LoopbackServer.Response)] = [
            ("no response", .closeImmediately), ("a reset", .reset), ("a head without its body", text.cut(at: .head)),
            ("half a body", text.cut(at: .bodyByte(5))),
            ("chunks without the last one", .chunked([Data("hello".utf8)]).cut(at: .bodyByte(10))),
            ("a bad chunk", .badChunk()), ("no HTTP", .raw("what?\r\n")),
        ]
        try await with(
            { faults[Int($0.path.dropFirst()) ?? 0].1 },
            run: { server, transport in
                for (number, fault) in faults.enumerated() {
                    let recorder = await run(try request(server, "/\(number)"), over: transport)
                    findings.expect(recorder.failure != nil, "\(fault.0) was a complete response")
                    findings.expect(server.requestCount == number + 1, "after \(fault.0) the request was sent again")
                }
            })
    }

    func brokenHeadsFail() async throws {
        for position in [4, 17, 30] as [Int64] {
            try await with(
                { _ in .text("hello").cut(at: .byte(position)) },
                run: { server, transport in
                    let recorder = await run(try request(server), over: transport)
                    findings.expect(recorder.failure != nil, "\(position) bytes of a head were a complete response")
                })
        }
    }

    func differingLengthsFail() async throws {
        for lengths in [["5", "6"], ["6", "5"]] {
            let fields = lengths.map { "Content-Length: \($0)\r\n" }.joined()
            try await with(
                { _ in .raw("HTTP/1.1 200 OK\r\n\(fields)\r\nhello!") },
                run: { server, transport in
                    let recorder = await run(try request(server), over: transport)
                    findings.expect(recorder.failure != nil, "the lengths \(lengths) were taken for one")
                })
        }
    }

    func requestsAreSentOnce() async throws {
        for fault in [LoopbackServer.Response.closeImmediately, .reset] {
            try await with(
                { $0.path == "/good" ? .text("x") : fault },
                run: { server, transport in
                    for (method, body) in [("GET", nil), ("POST", Data([1]))] {
                        // Its connection is kept for the next one.
                        await run(try request(server, "/good"), over: transport)
                        await run(try request(server, "/\(method)", method: method, body: body), over: transport)
                        let count = server.requests.filter { $0.path == "/\(method)" }.count
                        findings.expect(count == 1, "a \(method) whose connection ended was sent \(count) times")
                    }
                })
        }
    }

    func deliveryIsHonest() async throws {
        let faults: [LoopbackServer.Response] = [
            .closeImmediately, .reset, .text("hello").cut(at: .bodyByte(2)), .raw("what?\r\n"),
        ]
        try await with(
            { $0.path == "/good" ? .text("x") : faults[Int($0.path.dropFirst()) ?? 0] },
            run: { server, transport in
                // Over a new connection, and over one that was kept.
                for (number, isKept) in faults.indices.flatMap({ [($0, false), ($0, true)] }) {
                    if isKept { await run(try request(server, "/good"), over: transport) }
                    let recorder = await run(
                        try request(server, "/\(number)", method: "POST", body: Data([1])), over: transport)
                    findings.expect(
                        recorder.failure?.delivery != .notSent, "a request that the server has got was `notSent`")
                    let count = server.requests.filter { $0.path == "/\(number)" }.count
                    findings.expect(count == (isKept ? 2 : 1), "a POST that may have been sent was sent again")
                }
                let hanging = try LoopbackServer { _ in .hang }
                defer { hanging.stop() }
                for (number, method) in ["GET", "POST"].enumerated() {
                    let body = method == "POST" ? Data([1]) : nil
                    let recorder = start(try request(hanging, method: method, body: body), over: transport)
                    await hanging.waitForRequests(number + 1, seconds: patience.interval)
                    recorder.cancel()
                    _ = await recorder.hasEnded(within: patience)
                    findings.expect(
                        recorder.failure?.delivery != .notSent,
                        "a cancelled \(method) that the server has got was `notSent`")
                }
            })
    }

    func cancelledExchangesEnd() async throws {
        try await with(
            { $0.path == "/hang" ? .hang : .streamed([.write(text: "a"), .hang]) },
            run: { server, transport in
                for path in ["/hang", "/body"] {
                    let recorder = start(try request(server, path), over: transport)
                    if path == "/body" {
                        findings.expect(
                            await recorder.hasData(within: patience), "the first part of a body didn't come")
                    } else {
                        await server.waitForRequests(1, seconds: patience.interval)
                    }
                    for _ in 0..<3 { recorder.cancel() }
                    findings.expect(await recorder.hasEnded(within: patience), "a cancelled exchange didn't end")
                    findings.expect(!recorder.isFinished, "a cancelled exchange ended with `finished`")
                }
                // Before anything was sent.
                let recorder = start(try request(server, "/hang"), over: transport)
                recorder.cancel()
                findings.expect(await recorder.hasEnded(within: patience), "an exchange cancelled at once didn't end")
                findings.expect(
                    await server.waitForOpenConnections(atMost: 0, seconds: patience.interval),
                    "the connection of a cancelled exchange stayed open")
            })
    }

    func cancelIsQuiet() async throws {
        try await with(
            { _ in .streamed([.write(text: "a"), .hang]) },
            run: { server, transport in
                for _ in 0..<20 {
                    let recorder = start(try request(server), over: transport)
                    _ = await recorder.hasData(within: patience)
                    recorder.cancel()
                    guard await recorder.hasEnded(within: patience) else { return }
                }
            })
    }

    func lateCancelDoesNothing() async throws {
        try await with(
            { _ in .text("hello") },
            run: { server, transport in
                let recorder = await run(try request(server), over: transport)
                DispatchQueue.concurrentPerform(iterations: 20) { _ in recorder.cancel() }
                let second = await run(try request(server), over: transport)
                findings.expect(second.isFinished, "the next exchange failed: \(second.events)")
                // Cancelled as it ends.
                for _ in 0..<50 {
                    let recorder = start(try request(server), over: transport)
                    await server.waitForRequests(server.requestCount, seconds: patience.interval)
                    recorder.cancel()
                    guard await recorder.hasEnded(within: patience) else {
                        return findings.note("an exchange that was cancelled as it ended had no last event")
                    }
                }
            })
    }

    func cancelInsideReceive() async throws {
        let gate = LoopbackServer.Gate()
        try await with(
            { _ in .streamed([.wait(gate), .generate(length: 10_000_000, chunk: 65_536)]) },
            run: {
                server, transport in
                let recorder = start(try request(server), over: transport) { recorder in
                    recorder.whenReceiving { event, exchange in
                        if case .data = event { exchange?.cancel() }
                    }
                }
                gate.open()
                findings.expect(
                    await recorder.hasEnded(within: patience),
                    "an exchange that was cancelled inside `receive` didn't end")
            })
        try await cancelInsideAnyEvent()
    }

    private func cancelInsideAnyEvent() async throws {
        try await with(
            { _ in .text("hello") },
            run: { server, transport in
                for _ in 0..<100 {
                    let recorder = start(try request(server, method: "PUT", body: Data([1])), over: transport) {
                        $0.whenReceiving { _, exchange in exchange?.cancel() }
                    }
                    guard await recorder.hasEnded(within: patience) else {
                        return findings.note("an exchange that was cancelled inside `receive` didn't end")
                    }
                }
            })
    }

    func startDoesNotWait() async throws {
        let gate = LoopbackServer.Gate()
        try await with(
            { _ in .text("hello").after(gate) },
            run: { server, transport in
                let returned = Arrival<ExchangeRecorder>()
                let request = try request(server)
                Thread.detachNewThread { [self] in returned.arrive(start(request, over: transport)) }
                let recorder = await returned.wait(patience)
                findings.expect(recorder != nil, "`start` didn't return before the server answered")
                gate.open()
                if let recorder = recorder { _ = await recorder.hasEnded(within: patience) }
            })
    }

    func exchangesSideBySide() async throws {
        let gate = LoopbackServer.Gate()
        try await with(
            { $0.path.hasPrefix("/read") ? .streamed([.write(text: $0.path), .wait(gate)]) : .text($0.path) },
            run: { server, transport in
                func compare(_ paths: [String], _ recorders: [ExchangeRecorder], _ complaint: String) async {
                    for (path, recorder) in zip(paths, recorders) {
                        guard await recorder.hasEnded(within: patience) else { return findings.note(complaint) }
                        findings.expect(
                            recorder.body == Data(path.utf8),
                            "\(path) got \(String(decoding: recorder.body.prefix(40), as: UTF8.self).debugDescription)")
                    }
                }
                // A service limits its requests, but not the responses that are read while they arrive.
                let (read, whole) = ((0..<40).map { "/read/\($0)" }, (0..<50).map { "/\($0)" })
                let readers = try read.map { start(try request(server, $0), over: transport) }
                let others = try whole.map { start(try request(server, $0), over: transport) }
                await compare(whole, others, "a request waited for responses that others were reading")
                gate.open()
                await compare(read, readers, "a response that was read had no end")
            })
    }

    func metricsAreInPlace() async throws {
        try await with(
            { _ in .text("hello") },
            run: { server, transport in
                await run(try request(server), over: transport)
                let recorder = await run(try request(server, wantsMetrics: true), over: transport)
                let isMeasured = recorder.events.contains { if case .measured = $0 { true } else { false } }
                if !isMeasured { findings.notOffered() }
            })
    }

    func pauseHoldsBack() async throws {
        let length: Int64 = 24 << 20
        try await with(
            { _ in .generated(length: length) },
            run: { server, transport in
                let answer = Arrival<Bool>()
                let recorder = start(try request(server), over: transport) { recorder in
                    recorder.whenReceiving { event, exchange in
                        if case .data = event, answer.value == nil { answer.arrive(exchange?.pause() ?? false) }
                    }
                }
                guard await answer.wait(patience) == true else {
                    findings.notOffered()
                    recorder.cancel()
                    _ = await recorder.hasEnded(within: patience)
                    return
                }
                // More than the buffers of a connection hold: a sound transport neither ends now nor lets the server
                // end; a faulty one usually does beside others that are as long.
                for _ in 0..<2 { await run(try request(server), over: transport) }
                findings.expect(!recorder.isOver, "a paused body came to its end")
                findings.expect(server.requestsInProgress > 0, "a paused body was read to its end")
                recorder.exchange?.resume()
                findings.expect(await recorder.hasEnded(within: patience), "the body didn't go on after `resume`")
                findings.expect(
                    Int64(recorder.body.count) == length, "of \(length) bytes \(recorder.body.count) came after a pause"
                )
            })
    }

    func exchangesOutliveTheTransport() async throws {
        // More than once: a faulty transport may be slower than an answer.
        for _ in 0..<3 {
            let gate = LoopbackServer.Gate()
            let server = try LoopbackServer { _ in .text("hello").after(gate) }
            defer { server.stop() }
            let recorder = start(try request(server), over: try make())
            await server.waitForRequests(1, seconds: patience.interval)
            gate.open()
            _ = await recorder.hasEnded(within: patience)
            guard recorder.isFinished, recorder.body == Data("hello".utf8) else {
                return findings.note("it ended with: \(recorder.events)")
            }
        }
    }
}
