import AtomNetworking
import AtomNetworkingTesting
import Foundation
import Testing

@Suite(.limited)
struct ScriptedRequestTests {
    private func failure(_ atom: Atom, _ call: Call) async -> AtomError? {
        do {
            try await atom.enqueue(call).resume()
            return nil
        } catch {
            return error
        }
    }

    // MARK: Recording

    @Test func everythingOfARequestIsRecorded() async throws {
        let (atom, wire) = Atom.scripted(.status(204))
        wire.clock.advance(by: .seconds(5))
        try await atom.enqueue(
            Call(
                method: .post, route: "/a/b", queryItems: ["q": "a&b c", "p": ""], headerItems: ["X-One": "1"],
                body: .json(Page(number: 3, titles: ["t"])))
        ).resume()
        let request = try #require(wire.requests.first)
        #expect(request.method == "POST")
        #expect(request.url?.absoluteString == "https://api.example.com/a/b?q=a%26b%20c&p=")
        #expect(request.host == "api.example.com")
        #expect(request.path == "/a/b")
        #expect(request.pathAndQuery == "/a/b?q=a%26b%20c&p=")
        #expect(request.queryItems == [QueryItem(name: "q", value: "a&b c"), QueryItem(name: "p", value: "")])
        #expect(request["x-one"] == "1")
        #expect(request["Content-Type"] == "application/json")
        #expect(try request.decode(Page.self) == Page(number: 3, titles: ["t"]))
        #expect(request.bodyLength == Int64(request.body?.count ?? 0))
        #expect(request.bearerToken == nil)
        #expect(request.attempt == 1)
        #expect(request.time == wire.clock.now)
    }

    @Test func formsAreDecoded() async throws {
        let (atom, wire) = Atom.scripted(.status(204))
        try await atom.enqueue(Call(method: .post, body: .form(["a": "1+1 = 2", "ä": "%"]))).resume()
        #expect(wire.requests.first?.form("a") == "1+1 = 2")
        #expect(wire.requests.first?.form("ä") == "%")
        #expect(wire.requests.first?.formItems.count == 2)
    }

    @Test func aRequestWithoutABodyHasNone() async throws {
        let (atom, wire) = Atom.scripted(.status(204).times(2))
        try await atom.enqueue(Call()).resume()
        try await atom.enqueue(Call(method: .post, body: .data(Data()))).resume()
        #expect(wire.requests.map(\.body) == [nil, Data()])
    }

    @Test func streamedBodiesArePulled() async throws {
        let (atom, wire) = Atom.scripted(.status(204))
        let body = RequestBody.stream(contentType: "text/plain") {
            AsyncStream<Data> { continuation in
                for part in ["one ", "two ", "three"] { continuation.yield(Data(part.utf8)) }
                continuation.finish()
            }
        }
        try await atom.enqueue(Call(method: .post, body: body)).resume()
        #expect(wire.requests.first?.text == "one two three")
        #expect(wire.requests.first?.bodyLength == 13)
    }

    @Test func ofALargeBodyTheBeginningIsRecorded() async throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        let size = ScriptedTransport.maximumBodySize + 100_000
        try Data(count: size).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let (atom, wire) = Atom.scripted(.status(204))
        try await atom.enqueue(Call(method: .post, body: .file(file, contentType: "image/png"))).resume()
        #expect(wire.requests.first?.body?.count == ScriptedTransport.maximumBodySize)
        #expect(wire.requests.first?.bodyLength == Int64(size))
    }

    @Test func aBodyThatFailsEndsTheExchange() async throws {
        struct Broken: Error {}
        let (atom, wire) = Atom.scripted(.status(204).always)
        let body = RequestBody.stream(contentType: "text/plain") {
            AsyncThrowingStream<Data, any Error> { $0.finish(throwing: Broken()) }
        }
        let error = await failure(atom, Call(method: .post, body: body))
        guard case .transfer(let cause)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(cause.reason == .bodyFailed)
        #expect(wire.requests.count == 1)
    }

    @Test func secretsAreNotPrinted() async throws {
        let (atom, wire) = Atom.scripted(.status(204))
        try await atom.enqueue(Call(queryItems: ["key": "hush-1"], headerItems: ["X-Key": "hush-2"])).resume()
        let request = try #require(wire.requests.first)
        var dumped = ""
        dump(request, to: &dumped)
        #expect(!"\(request) \(String(reflecting: request)) \(dumped)".contains("hush"))
    }

    // MARK: Matching

    @Test(
        arguments: [
            ("/users/*", "/users/7", true), ("/users/*", "/users/7/photo", false), ("/users/*", "/users/", false),
            ("/users/**", "/users/7/photo", true), ("/users/**", "/users", true), ("/**/photo", "/users/7/photo", true),
            ("/**/photo", "/photo", true), ("/**/photo", "/users/photos", false), ("/**", "/", true),
            ("/a b", "/a%20b", true), ("/a%2Fb", "/a/b", false), ("/x", "/X", false), ("/*/b/*", "/a/b/c", true),
        ]) func aPathMatchesItsPattern(_ pattern: String, _ path: String, _ matches: Bool) async throws
    {
        let (atom, wire) = Atom.scripted(.text("script"))
        wire.on(.get, pattern) { _ in .text("rule") }
        let text = try await atom.enqueue(Call(route: path)).resume(expecting: String.self)
        #expect(text == (matches ? "rule" : "script"))
        if matches { #expect(throws: ScriptProblem.self) { try wire.verify() } }
    }

    @Test func eachPartOfARequestCanBeAskedFor() async throws {
        let (atom, wire) = Atom.scripted()
        wire.on(.post, "/x") { _ in .text("method") }
        wire.on("/x", host: "other.example.com") { _ in .text("host") }
        wire.on("/x", query: ["q": "1"]) { _ in .text("query") }
        wire.on("/x", headerItems: ["X-Name": "n"]) { _ in .text("header") }
        wire.on("/x", where: { try $0.decode(Page.self).number == 8 }, answer: { _ in .text("body") })
        wire.on("/x") { _ in .text("any") }
        func text(_ call: Call) async throws -> String { try await atom.enqueue(call).resume(expecting: String.self) }
        #expect(try await text(Call(method: .post)) == "method")
        #expect(try await text(Call(queryItems: ["p": "0", "q": "1"])) == "query")
        #expect(try await text(Call(headerItems: ["x-name": "n"])) == "header")
        #expect(try await text(Call(method: .put, body: .json(Page(number: 8)))) == "body")
        #expect(try await text(Call(method: .put, body: .json(Page(number: 9)))) == "any")
        #expect(try await text(Call()) == "any")
        try wire.verify()
    }

    @Test func rulesComeFirstAndInOrder() async throws {
        let (atom, wire) = Atom.scripted(.text("script"))
        wire.on(.get, "/x", times: 1) { _ in .text("first") }
        wire.on(.get, "/x", times: 2) { _ in .text("second") }
        var texts: [String] = []
        for _ in 0..<4 { texts.append(try await atom.enqueue(Call()).resume(expecting: String.self)) }
        #expect(texts == ["first", "second", "second", "script"])
        try wire.verify()
    }

    // MARK: Problems

    @Test func anEncodedItemIsAskedForAsItIsRead() async throws {
        let (atom, wire) = Atom.scripted()
        let query = QueryItem.items(percentEncodedQuery: "ids=1,2&flag&q=a+b&at=a%2cb")
        wire.on("/x", query: query) { _ in .text("query") }
        #expect(try await atom.enqueue(Call(queryItems: query)).resume(expecting: String.self) == "query")
    }

    @Test func aRequestThatNobodyAnswersSaysWhy() async throws {
        let reports = Reports()
        do {
            let (atom, wire) = Atom.scripted(
                .status(204), configure: { $0.retryPolicy = .standard }, onProblem: { reports.add($0) })
            wire.on(.post, "/users/*", query: ["q": "hush"], times: 1) { _ in .status(204) }
            wire.on(.get, "/x", headerItems: ["X-Name": "hush"]) { _ in .status(204) }
            try await atom.enqueue(Call()).resume()
            let error = await failure(atom, Call(queryItems: ["q": "other-secret"]))
            let text = try #require(error?.description)
            #expect(text.contains("GET https://api.example.com/x?"))
            #expect(text.contains("The script has no answer for GET https://api.example.com/x?"))
            #expect(text.contains("(request 2); it has answered GET https://api.example.com/x (status 204); no other"))
            #expect(text.contains("POST /users/*, query q: the method is GET, the path is /x, the query item q has"))
            #expect(text.contains("GET /x, header X-Name: the header field X-Name is missing"))
            #expect(!text.contains("hush") && !text.contains("other-secret"))
            #expect(error?.delivery == .notSent)
            // No policy sends it again.
            #expect(wire.requests.count == 2)
        }
        let findings = try #require(await reports.first()?.findings)
        #expect(reports.all.count == 1)
        #expect(findings.count == 2)
        #expect(findings[0].hasPrefix("The script has no answer for GET https://api.example.com/x"))
        #expect(findings[1] == "There were 0 of 1 requests for POST /users/*, query q.")
    }

    @Test func answersThatNobodyAskedForAreFound() async throws {
        let (atom, wire) = Atom.scripted(.status(204).times(3), .json(Page()))
        try await atom.enqueue(Call()).resume()
        let problem = #expect(throws: ScriptProblem.self) { try wire.verify() }
        #expect(
            problem?.findings == [
                "Nobody has asked 2 more times for answer 1: status 204.",
                "Nobody has asked for answer 2: json, status 200.",
            ])
    }

    @Test func whatIsVerifiedIsNotReportedAgain() async throws {
        let reports = Reports()
        do {
            let (_, wire) = Atom.scripted(.status(204), onProblem: { reports.add($0) })
            #expect(throws: ScriptProblem.self) { try wire.verify() }
        }
        #expect(reports.all.isEmpty)
        do {
            let (atom, wire) = Atom.scripted(onProblem: { reports.add($0) })
            try wire.verify()
            _ = await failure(atom, Call())
        }
        _ = await reports.first()
        #expect(reports.all.count == 1)
    }

    @Test func eachVerificationLooksAtEverything() async throws {
        let reports = Reports()
        do {
            let (atom, wire) = Atom.scripted(.status(204), onProblem: { reports.add($0) })
            try await atom.enqueue(Call()).resume()
            try wire.verify()
            wire.add(.status(204))
            for _ in 0..<2 { #expect(throws: ScriptProblem.self) { try wire.verify() } }
            try await atom.enqueue(Call()).resume()
            try wire.verify()
            wire.on(.get, "/x", times: 1) { _ in .status(204) }
        }
        _ = await reports.first()
        #expect(reports.all.count == 1)
    }

    @Test func verificationWaitsUntilAnswersAreChosen() async throws {
        let (atom, wire) = Atom.scripted(.status(204))
        wire.on("/slow") { _ in
            // The requests behind it wait for their answers meanwhile.
            for _ in 0..<10_000 { sched_yield() }
            return .status(204)
        }
        var calls = [Call(route: "/slow"), Call()].map { atom.enqueue($0).resume { _ in } }
        try wire.verify()
        calls += [Call(route: "/slow"), Call()].map { atom.enqueue($0).resume { _ in } }
        #expect(throws: ScriptProblem.self) { try wire.verify() }
        withExtendedLifetime(calls) {}
    }

    @Test func aCancelledRequestUsesUpItsAnswer() async throws {
        for _ in 0..<100 {
            let (atom, wire) = Atom.scripted(.text("A"), .text("B"))
            atom.enqueue(Call()).resume { _ in }.cancel()
            #expect(try await atom.enqueue(Call()).resume(expecting: String.self) == "B")
            try wire.verify()
        }
    }

    @Test func aTestInAScriptIsVerified() async throws {
        struct Other: Error {}
        await #expect(throws: ScriptProblem.self) { try await Atom.withScript(.status(204)) { _, _ in } }
        await #expect(throws: Other.self) { try await Atom.withScript(.status(204)) { _, _ in throw Other() } }
        let text = try await Atom.withScript(.text("a")) { atom, wire in
            #expect(wire.isIdle)
            return try await atom.enqueue(Call()).resume(expecting: String.self)
        }
        #expect(text == "a")
    }

    #if os(Linux) || os(macOS)
        @Test func aTestCanStopTheProgram() async {
            await #expect(processExitsWith: .failure) {
                _ = Atom.scripted(.status(204), onProblem: { ScriptProblem.stop($0) })
            }
        }
    #endif

    @Test func theConfigurationCanBeChanged() async throws {
        let (atom, wire) = Atom.scripted(.status(503), .text("b")) {
            $0.retryPolicy = .standard
            $0.headerItems = ["X-App": "1"]
        }
        async let text = atom.enqueue(Call()).resume(expecting: String.self)
        await wire.idle()
        wire.clock.advance(by: .seconds(20))
        #expect(try await text == "b")
        #expect(wire.requests.map { $0["X-App"] } == ["1", "1"])
        #expect(wire.requests.map(\.attempt) == [1, 2])
        try wire.verify()
    }
}
