import AtomNetworking
import Foundation

extension TransportTrial {
    func redirectsAreNotFollowed() async throws {
        for status in [301, 302, 303, 307, 308] {
            try await with(
                { $0.path == "/x" ? .redirect(status, location: "/elsewhere") : .text("followed") },
                run: {
                    server, transport in
                    let recorder = await run(try request(server), over: transport)
                    findings.expect(
                        recorder.response?.statusCode == status && server.requestCount == 1, "a \(status) was followed")
                    findings.expect(
                        recorder.response?.headerFields["Location"] == "/elsewhere",
                        "the Location of a \(status) is missing")
                })
        }
    }

    func cookiesAreNotKept() async throws {
        try await with(
            { _ in .text("x", headers: [("Set-Cookie", "a=1; Path=/")]) },
            run: { server, transport in
                for _ in 0..<2 { await run(try request(server), over: transport) }
                findings.expect(server.requests.allSatisfy { $0["Cookie"] == nil }, "a cookie was sent back")
            })
    }

    func responsesAreNotKept() async throws {
        let fields = [("Cache-Control", "max-age=60"), ("ETag", #""1""#)]
        try await with(
            { _ in .text("x", headers: fields) },
            run: { server, transport in
                for _ in 0..<2 { await run(try request(server), over: transport) }
                findings.expect(server.requestCount == 2, "a response was given again")
                findings.expect(
                    server.requests.allSatisfy { $0["If-None-Match"] == nil && $0["If-Modified-Since"] == nil },
                    "the server was asked whether a response has changed")
            })
    }

    func challengesAreNotAnswered() async throws {
        for challenge in [#"Basic realm="x""#, #"Digest realm="x", nonce="y""#, "Bearer"] {
            try await with(
                { _ in .challenge(challenge, body: Data("no".utf8)) },
                run: { server, transport in
                    let recorder = await run(try request(server), over: transport)
                    findings.expect(
                        recorder.isFinished && recorder.response?.statusCode == 401 && recorder.body == Data("no".utf8),
                        "a 401 with \(challenge) ended with: \(recorder.events)")
                    findings.expect(server.requestCount == 1, "\(challenge) was answered")
                })
        }
    }

    func targetsAreExact() async throws {
        try await with(
            { _ in .text("x") },
            run: { server, transport in
                let query: [QueryItem] = [QueryItem(name: "q", value: "a+b & c=ü/?"), QueryItem(name: "q", value: "")]
                for method in ["GET", "DELETE", "PURGE", "PATCH"] {
                    let request = try request(server, "/a%20b%2Fc/~d/e", method: method, query: query)
                    await run(request, over: transport)
                    let expected = request.target.pathAndQuery
                    findings.expect(
                        server.requests.last?.method == method,
                        "\(method) was sent as \(server.requests.last?.method ?? "-")")
                    findings.expect(
                        server.requests.last?.target == expected,
                        "\(expected) was sent as \(server.requests.last?.target ?? "nothing")")
                }
                let head = await run(try request(server, method: "HEAD"), over: transport)
                findings.expect(head.isFinished && head.body.isEmpty, "HEAD ended with: \(head.events)")
            })
    }

    private static let fields = [
        ("X-Second", "2"), ("X-First", "1"), ("x-lower", "a, b"), ("X-Repeat", "one"), ("X-Between", "tab\tand space"),
        ("X-Repeat", "two"), ("Accept", "text/x-contract"), ("Authorization", "Bearer token"),
    ]

    private func receivedFields() async throws -> [LoopbackServer.Field] {
        let request = Guarded<LoopbackServer.Request?>(nil)
        try await with(
            { received in
                request.withLock { $0 = received }
                return .text("x")
            },
            run: { server, transport in
                await run(try self.request(server, fields: Self.fields), over: transport)
            })
        return request.withLock { $0?.headers ?? [] }
    }

    func headerFieldsAreSent() async throws {
        let received = try await receivedFields()
        for name in Set(Self.fields.map { $0.0.lowercased() }).sorted() {
            let given = Self.fields.filter { $0.0.lowercased() == name }.map(\.1).joined(separator: ", ")
            let values = received.filter { $0.name.lowercased() == name }.map(\.value)
            // Joined is the same (RFC 9110 §5.3).
            let joined = values.flatMap { $0.components(separatedBy: ",") }
                .map { $0.trimmingCharacters(in: .whitespaces) }.joined(separator: ", ")
            findings.expect(joined == given, "\(name): \(given) was sent as \(values)")
        }
    }

    func headerFieldLinesAreExact() async throws {
        let names = Set(Self.fields.map { $0.0.lowercased() })
        let lines = try await receivedFields().filter { names.contains($0.name.lowercased()) }
        let seen = lines.map { "\($0.name): \($0.value)" }
        let given = Self.fields.map { "\($0.0): \($0.1)" }
        findings.expect(seen == given, "the lines were \(seen)")
    }

    func headerFieldsAreNotAdded() async throws {
        let allowed: Set = [
            "host", "content-length", "transfer-encoding", "connection", "expect", "te", "trailer", "accept-encoding",
            "user-agent",
            // By URLSession on Apple platforms, the last three to an upload.
            "accept-language", "upload-draft-interop-version", "upload-complete", "upload-length",
        ]
        let given = Set(Self.fields.map { $0.0.lowercased() })
        for field in try await receivedFields() where !given.contains(field.name.lowercased()) {
            findings.expect(allowed.contains(field.name.lowercased()), "\(field.name) was added")
        }
    }

    func headerFieldsAreReceived() async throws {
        let sent = [
            ("X-Repeat", "one"), ("Set-Cookie", "a=1; Expires=Wed, 21 Oct 2065 07:28:00 GMT"), ("X-Repeat", "two"),
            ("Set-Cookie", "b=2"), ("X-Empty", ""),
        ]
        try await with(
            { _ in .text("x", headers: sent) },
            run: { server, transport in
                let recorder = await run(try request(server), over: transport)
                let fields = recorder.response?.headerFields ?? HeaderFields()
                findings.expect(
                    fields.values(for: "Set-Cookie") == [sent[1].1, sent[3].1],
                    "two cookies came as \(fields.values(for: "Set-Cookie"))")
                let repeats = fields.values(for: "x-repeat")
                findings.expect(
                    repeats == ["one", "two"] || repeats == ["one, two"] || repeats == ["one,two"],
                    "a repeated field came as \(repeats)")
                findings.expect(fields["x-empty"] == "", "an empty field came as \(fields["x-empty"] ?? "nothing")")
            })
    }

    func bodiesAreReceived() async throws {
        let answers: [LoopbackServer.Response] = [
            .text(""), .generated(length: 1), .generated(length: 2_000_000),
            .generated(length: 2_000_000, chunk: 999, chunked: true), .generated(length: 100_000).closing(),
            .generated(length: 30_000).dripping(bytes: 10_000, everyMilliseconds: 1),
        ]
        let lengths = [0, 1, 2_000_000, 2_000_000, 100_000, 30_000]
        try await with(
            { answers[Int($0.path.dropFirst()) ?? 0] },
            run: { server, transport in
                for (number, length) in lengths.enumerated() {
                    let recorder = await run(try request(server, "/\(number)"), over: transport)
                    let body = recorder.body
                    let isSame = body.enumerated().allSatisfy {
                        $0.element == LoopbackServer.Response.generatedByte(at: Int64($0.offset))
                    }
                    findings.expect(
                        body.count == length && isSame,
                        "of \(length) bytes \(body.count) came, \(isSame ? "" : "not ")the same")
                }
            })
    }

    func bodiesAreDecoded() async throws {
        try await with(
            { _ in .compressionBomb(length: 100_000) },
            run: { server, transport in
                let recorder = await run(try request(server), over: transport)
                if server.requests.first?["Accept-Encoding"]?.contains("gzip") != true { return findings.notOffered() }
                findings.expect(
                    recorder.body.count >= 100_000 && recorder.body.allSatisfy { $0 == 0 },
                    "a gzip of 100,000 zeros came as \(recorder.body.count) bytes")
            })
    }

    func interimResponsesAreSkipped() async throws {
        let answer = LoopbackServer.Response.text("hello").afterInterim(103, headers: [("Link", "a")]).afterInterim(102)
        try await with(
            { _ in answer },
            run: { server, transport in
                let recorder = await run(try request(server), over: transport)
                findings.expect(
                    recorder.response?.statusCode == 200 && recorder.body == Data("hello".utf8),
                    "after interim responses came: \(recorder.events)")
            })
    }

    func freshConnections() async throws {
        let gate = LoopbackServer.Gate()
        try await with(
            { $0.path == "/held" ? .text("x").after(gate) : .text("x") },
            run: { server, transport in
                await run(try request(server), over: transport)
                // As many as wait for one another at most, and they keep their connections.
                let held = try (0..<(transport.exchangesPerOrigin ?? 6)).map { _ in
                    start(try request(server, "/held"), over: transport)
                }
                await server.waitForRequests(1 + held.count, seconds: patience.interval)
                let earlier = Set(server.requests.map(\.connection))
                let recorder = await run(try request(server, "/fresh", isFresh: true), over: transport)
                findings.expect(recorder.isFinished, "it waited for other connections: \(recorder.events)")
                gate.open()
                for each in held { _ = await each.hasEnded(within: patience) }
                let later = await run(try request(server, "/again", isFresh: true), over: transport)
                findings.expect(later.isFinished, "a second one ended with: \(later.events)")
                let connections = ["/fresh", "/again"].map { path in
                    server.requests.first { $0.path == path }?.connection
                }
                findings.expect(
                    connections[0].map { !earlier.contains($0) } ?? true && connections[0] != connections[1]
                        && connections[1].map { !earlier.contains($0) } ?? true,
                    "it was sent over a connection that had been used")
            })
    }
}
