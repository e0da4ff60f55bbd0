import AtomNetworking
import AtomNetworkingExports
import AtomNetworkingTesting
import Foundation
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// What was recorded of one service answers another one.
@Suite(.limited)
struct ReplayTests {
    private let recorder = HARRecorder(showing: .allButCredentials, responseBodiesUpTo: 1 << 16)

    /// Records what a service with these answers does.
    private func recording(
        _ answers: ScriptedResponse..., signedIn: Bool? = nil, expiringIn lifetime: Duration = .seconds(3_600),
        run: (Atom, ScriptedTransport) async throws -> Void
    ) async throws -> HTTPArchive {
        let (atom, wire) = Atom.scripted(signedIn: signedIn, expiringIn: lifetime) {
            $0.observers = [recorder]
            $0.retryPolicy = RetryPolicy.none
        }
        for answer in answers { wire.add(answer) }
        try await run(atom, wire)
        try wire.verify()
        return try HTTPArchive(await wire.recorded(by: recorder))
    }

    private func problem(_ wire: ScriptedTransport) -> String {
        do {
            try wire.verify()
            return ""
        } catch {
            return error.description
        }
    }

    private func failure(_ atom: Atom, _ call: Call) async -> String {
        do {
            try await atom.enqueue(call).resume()
            return ""
        } catch {
            return error.description
        }
    }

    @Test func anAnswerHasStatusFieldsAndBody() async throws {
        let archive = try await recording(
            .json(Page(number: 3, titles: ["é"]), status: 201, headerItems: ["X-Seats": "12"]),
            .data(Data([0xFF, 0x00, 0x80]), headerItems: ["Content-Type": "image/png"])
        ) { atom, _ in
            try await atom.enqueue(Call()).resume()
            try await atom.enqueue(Call(route: "/image")).resume()
        }
        #expect(archive.entries.map(\.statusCode) == [201, 200])
        #expect(archive.entries.map(\.url) == ["https://api.example.com/x", "https://api.example.com/image"])

        let (atom, wire) = Atom.scripted()
        wire.replay(archive)
        // In another order than they were recorded.
        let image = try await atom.enqueue(Call(route: "/image")).resume()
        #expect(image.data == Data([0xFF, 0x00, 0x80]))
        let answer = try await atom.enqueue(Call()).resume(decoding: Page.self)
        #expect(answer.model == Page(number: 3, titles: ["é"]))
        #expect(answer.response.statusCode == 201 && answer.response.headerFields["X-Seats"] == "12")
        try wire.verify()
    }

    @Test(arguments: [
        #"{"access_token": "a", "refresh_token" : "r", "password": "p"}"#, #"{"accessToken":"a","note":"HIDDEN"}"#,
    ])
    func theTokensOfTwoSignInsDiffer(answer: String) async throws {
        let archive = try await recording(.json(text: answer).times(2)) { atom, _ in
            for _ in 1...2 { try await atom.enqueue(Call(method: .post)).resume() }
        }
        let (atom, wire) = Atom.scripted()
        wire.replay(archive)
        var tokens: Set<String> = []
        for _ in 1...2 {
            let found = try await atom.enqueue(Call(method: .post)).resume(expecting: [String: String].self)
            for (name, value) in found where name.lowercased().contains("token") {
                #expect(value.hasPrefix("HIDDEN-"))
                tokens.insert(name + value)
            }
            #expect(found["password"] ?? found["note"] == "HIDDEN")
        }
        #expect(tokens.count == (answer.contains("refresh") ? 4 : 2))
        try wire.verify()
    }

    @Test func equalRequestsGetTheirAnswersInOrder() async throws {
        let archive = try await recording(.text("a"), .text("b")) { atom, _ in
            for _ in 0..<2 { try await atom.enqueue(Call()).resume() }
        }
        let (atom, wire) = Atom.scripted()
        wire.replay(archive)
        for text in ["a", "b"] {
            #expect(try await atom.enqueue(Call()).resume(expecting: String.self) == text)
        }
        try wire.verify()
        #expect(
            await failure(atom, Call()).contains(
                "entry 1, GET https://api.example.com/x, status 200: it has been given once"))
        _ = problem(wire)
    }

    @Test func aBodySaysWhichRequestItIs() async throws {
        func query(_ text: String) -> Call {
            Call(method: .post, route: "/graphql", body: .json(["query": text, "password": "planted"]))
        }
        let archive = try await recording(.text("one"), .text("two")) { atom, _ in
            for text in ["1", "2"] { try await atom.enqueue(query(text)).resume() }
        }
        #expect(!String(decoding: recorder.har(), as: UTF8.self).contains("planted"))
        let (atom, wire) = Atom.scripted()
        wire.replay(archive)
        #expect(try await atom.enqueue(query("2")).resume(expecting: String.self) == "two")
        let error = await failure(atom, query("3"))
        #expect(error.contains("the body differs at query"))
        _ = problem(wire)

        let (other, otherWire) = Atom.scripted()
        otherWire.replay(archive, comparing: [.origin, .query], mustUseAll: false)
        #expect(try await other.enqueue(query("3")).resume(expecting: String.self) == "one")
        try otherWire.verify()
    }

    @Test(arguments: [
        (Call(method: .put), "the method is PUT"), (Call(route: "/y"), "the path is /y"),
        (Call(queryItems: ["n": "2"]), "the query item n has another value"),
        (Call(queryItems: [:]), "the query item n is missing"),
        (Call(queryItems: ["n": "1", "m": "1"]), "the query item m isn't recorded"),
    ])
    func anotherRequestFails(call: Call, reason: String) async throws {
        let archive = try await recording(.text("a")) { atom, _ in
            try await atom.enqueue(Call(queryItems: ["n": "1"])).resume()
        }
        for order in [HTTPArchive.Order.byRequest, .asRecorded] {
            let (atom, wire) = Atom.scripted()
            wire.replay(archive, order: order)
            let error = await failure(atom, call)
            #expect(error.contains(reason), "\(error)")
            #expect(error.contains("entry 1, GET https://api.example.com/x, status 200"), "\(error)")
            #expect(problem(wire).contains(reason))
        }
    }

    @Test func theOriginNeedNotBeTheSame() async throws {
        let archive = try await recording(.text("a")) { atom, _ in try await atom.enqueue(Call()).resume() }
        struct Local: Requestable {
            func baseURL() throws(AtomError) -> BaseURL { try BaseURL(scheme: .http, host: "localhost", port: 8_080) }
            func path() throws(AtomError) -> URLPath { try URLPath("/x") }
        }
        let (atom, wire) = Atom.scripted()
        wire.replay(archive, comparing: [.query, .body])
        try await atom.enqueue(Local()).resume()
        try wire.verify()
        wire.replay(archive)
        await #expect(throws: AtomError.self) { try await atom.enqueue(Local()).resume() }
        #expect(problem(wire).contains("the origin is http://localhost:8080"))
    }

    @Test func anOrderMayBeAskedFor() async throws {
        let archive = try await recording(.text("a"), .text("b"), .text("c")) { atom, _ in
            for path in ["/1", "/2", "/3"] { try await atom.enqueue(Call(route: path)).resume() }
        }
        let (atom, wire) = Atom.scripted()
        wire.replay(archive, order: .asRecorded)
        #expect(try await atom.enqueue(Call(route: "/1")).resume(expecting: String.self) == "a")
        #expect(await failure(atom, Call(route: "/3")).contains("the recording continues with entry 2"))
        let found = problem(wire)
        #expect(found.contains("Nobody has asked for answer 3: entry 3, GET https://api.example.com/3"), "\(found)")
    }

    @Test func whatNobodyAsksForIsAProblemUnlessSaidOtherwise() async throws {
        let archive = try await recording(.text("a"), .text("b")) { atom, _ in
            for path in ["/1", "/2"] { try await atom.enqueue(Call(route: path)).resume() }
        }
        for order in [HTTPArchive.Order.byRequest, .asRecorded] {
            let (_, wire) = Atom.scripted()
            wire.replay(archive, order: order)
            #expect(problem(wire).contains("entry 2, GET https://api.example.com/2"))
            let (_, other) = Atom.scripted()
            other.replay(archive, order: order, mustUseAll: false)
            try other.verify()
        }
    }

    // MARK: What went wrong

    @Test func aFailureFailsAgain() async throws {
        let archive = try await recording(
            .failure(.cannotFindHost, delivery: .notSent), .failure(.cannotFindHost, delivery: .notSent),
            .chunks([Data("half".utf8)], ending: .failure(.networkConnectionLost)), .failure(.timedOut)
        ) { atom, _ in
            for path in ["/1", "/2", "/3"] {
                await #expect(throws: AtomError.self) { try await atom.enqueue(Call(route: path)).resume() }
            }
        }
        let (atom, wire) = Atom.scripted { $0.retryPolicy = RetryPolicy.none }
        wire.replay(archive)
        var errors: [AtomError] = []
        for path in ["/1", "/2", "/3"] {
            do throws(AtomError) {
                try await atom.enqueue(Call(route: path)).resume()
            } catch {
                errors.append(error)
            }
        }
        let codes = errors.map { error -> URLError.Code? in
            if case .session(let cause) = error { (cause as? URLError)?.code } else { nil }
        }
        #expect(codes == [.cannotFindHost, .networkConnectionLost, .timedOut])
        #expect(errors.map(\.delivery) == [.notSent, .answered, .maybeSent])
        try wire.verify()
    }

    @Test func aCancelledRequestGetsNoEnd() async throws {
        let archive = try await recording(.never) { atom, wire in
            let task = Task { try await atom.enqueue(Call()).resume() }
            await wire.idle()
            task.cancel()
            await #expect(throws: AtomError.self) { try await task.value }
        }
        let (atom, wire) = Atom.scripted()
        wire.replay(archive)
        let call = atom.enqueue(Call()).resume { _ in Issue.record("It has ended") }
        await wire.idle()
        #expect(wire.requests.count == 1)
        try wire.verify()
        withExtendedLifetime(call) {}
    }

    @Test func aBodyThatIsMissingIsSaid() async throws {
        let archive = try await recording(
            .text(String(repeating: "a", count: 1 << 17)), .text("my password is planted"), .text("")
        ) { atom, _ in
            for path in ["/1", "/2", "/3"] { try await atom.enqueue(Call(route: path)).resume() }
        }
        let (atom, wire) = Atom.scripted()
        wire.replay(archive)
        for path in ["/1", "/2"] {
            #expect(await failure(atom, Call(route: path)).contains("the body of its response isn't in the recording"))
        }
        try await atom.enqueue(Call(route: "/3")).resume()
        _ = problem(wire)
        let reasons = archive.review.findings(.unanswerable).map(\.reason)
        #expect(reasons.count == 2)
        #expect(reasons.first?.contains("longer than the recorder's limit") == true)
        #expect(reasons.last?.contains("may hold a credential") == true)
    }

    @Test func theBodyOfAFinal401IsNeeded() async throws {
        let archive = try await recording(.text("Wrong password: planted", status: 401)) { atom, _ in
            _ = await failure(atom, Call(requiresAuthorization: false))
        }
        #expect(archive.review.findings(.unanswerable).count == 1)
        let (atom, wire) = Atom.scripted()
        wire.replay(archive)
        #expect(await failure(atom, Call()).contains("the body of its response isn't in the recording"))
        try? wire.verify()
    }

    @Test func theBodyOfA401ThatIsSentAgainIsNotNeeded() async throws {
        let archive = try await recording(
            .text("Wrong password: planted", status: 401), .text("a"), signedIn: true
        ) { atom, _ in
            try await atom.enqueue(Call()).resume()
        }
        // The thread that tells of the first request may be slower than the refresh.
        #expect(archive.entries.compactMap(\.statusCode).sorted() == [200, 200, 401])
        #expect(archive.review.findings(.unanswerable).isEmpty)
        let (atom, wire) = Atom.scripted(signedIn: true)
        wire.replay(archive)
        #expect(try await atom.enqueue(Call()).resume(expecting: String.self) == "a")
        #expect(wire.authorizationServer.counts.refreshes == 1)
        try wire.verify()
    }

    @Test func whatTheSDKItselfHasEndedIsNotASuccess() async throws {
        struct Broken: Error {}
        let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        let archive = try await recording(.text("12345"), .status(204).always) { atom, _ in
            await #expect(throws: AtomError.self) {
                try await atom.enqueue(Call(route: "/file")).download(to: file, maximumSize: 4)
            }
            let body = RequestBody.stream(contentType: "text/plain", length: nil, isRepeatable: false) {
                AsyncThrowingStream<Data, any Error> { $0.finish(throwing: Broken()) }
            }
            _ = await failure(atom, Call(method: .put, body: body))
        }
        #expect(archive.review.findings(.unanswerable).flatMap(\.entries) == [1, 2])
        let (atom, wire) = Atom.scripted()
        wire.replay(archive)
        #expect(await failure(atom, Call(route: "/file")).contains("it failed for a reason that the file doesn't have"))
        try? wire.verify()
    }

    // MARK: Sessions

    @Test func aSessionOfTheTestTakesThePlaceOfTheRecordedOne() async throws {
        let archive = try await recording(.text("a"), .text("b"), signedIn: true, expiringIn: .seconds(60)) {
            atom, wire in
            try await atom.enqueue(Call(route: "/1")).resume()
            wire.clock.advance(by: .seconds(61))
            try await atom.enqueue(Call(route: "/2")).resume()
        }
        #expect(archive.entries.count == 3)
        let (atom, wire) = Atom.scripted(signedIn: true)
        wire.replay(archive)
        #expect(try await atom.enqueue(Call(route: "/2")).resume(expecting: String.self) == "b")
        #expect(try await atom.enqueue(Call(route: "/1")).resume(expecting: String.self) == "a")
        #expect(wire.authorizationServer.counts.refreshes == 0)
        try wire.verify()
    }

    @Test func recordedTokensAnswerTheServicesOwnRequestsAndAreDistinct() async throws {
        let archive = try await recording(.text("a"), .text("b"), signedIn: true) { atom, wire in
            for path in ["/1", "/2"] {
                wire.authorizationServer.revokeAccessTokens()
                try await atom.enqueue(Call(route: path)).resume()
            }
        }
        // The thread that tells of a request may be slower than the refresh.
        #expect(archive.entries.compactMap(\.statusCode).sorted() == [200, 200, 200, 200, 401, 401])
        let text = String(decoding: recorder.har(), as: UTF8.self)
        for token in ["A1", "A2", "A3", "R1", "R2", "R3", "secret"] { #expect(!text.contains("\"\(token)\"")) }
        // The wire's own server would answer at its own origin.
        let moved = text.replacingOccurrences(of: "https://authorization.test", with: "https://auth.example.com")
        #expect(moved != text)

        let wire = ScriptedTransport()
        let store = RecordingTokenCredentialStore(
            TokenCredential(accessToken: "old", expiresAt: .distantFuture, refreshToken: "older"))
        var configuration = ServiceConfiguration(
            authenticationMethod: .bearer(
                try AuthorizationEndpoint(host: "auth.example.com", path: "/token"),
                ClientCredential(grantType: .refreshToken, id: "client", secret: "secret"), store))
        wire.install(in: &configuration)
        wire.replay(try HTTPArchive(Data(moved.utf8)))
        let atom = Atom(serviceConfiguration: configuration)
        #expect(try await atom.enqueue(Call(route: "/1")).resume(expecting: String.self) == "a")
        #expect(try await atom.enqueue(Call(route: "/2")).resume(expecting: String.self) == "b")
        #expect(store.writes.count == 2)
        #expect(Set(store.writes.map { $0?.accessToken }).count == 2)
        try wire.verify()
    }
}
