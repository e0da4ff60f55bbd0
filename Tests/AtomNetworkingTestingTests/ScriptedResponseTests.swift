import AtomNetworking
import AtomNetworkingTesting
import Foundation
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

extension AtomError {
    var sessionCode: URLError.Code? {
        if case .session(let error as URLError) = self { error.code } else { nil }
    }
}

@Suite(.limited)
struct ScriptedResponseTests {
    /// The error of a call.
    private func failure(_ atom: Atom, _ call: Call = Call()) async -> AtomError? {
        do {
            try await atom.enqueue(call).resume()
            return nil
        } catch {
            return error
        }
    }

    @Test func answersComeInOrder() async throws {
        let (atom, wire) = Atom.scripted(
            .json(Page(number: 1)), .json(text: #"{"number": 2, "titles": []}"#), .text("three"),
            .data(Data([4]), headerItems: ["X-Answer": "4"]), .status(204), .status(404))
        #expect(try await atom.enqueue(Call()).resume(expecting: Page.self).number == 1)
        #expect(try await atom.enqueue(Call()).resume(expecting: Page.self).number == 2)
        #expect(try await atom.enqueue(Call()).resume(expecting: String.self) == "three")
        let fourth = try await atom.enqueue(Call()).resume()
        #expect(fourth.data == Data([4]))
        #expect(fourth.headerFields["X-Answer"] == "4")
        #expect(fourth.headerFields["Content-Type"] == "application/octet-stream")
        #expect(try await atom.enqueue(Call()).resume().statusCode == 204)
        #expect(await failure(atom)?.response?.statusCode == 404)
        try wire.verify()
    }

    @Test func anEncoderCanBeGiven() async throws {
        let encoder = JSONEncoder()
        encoder.keyEncodingStrategy = .convertToSnakeCase
        struct Seat: Model { let seatRow: Int }
        let (atom, _) = Atom.scripted(.json(Seat(seatRow: 3), encoder: encoder))
        #expect(try await atom.enqueue(Call()).resume(expecting: [String: Int].self) == ["seat_row": 3])
    }

    @Test func aValueThatCantBeEncodedIsAProblem() async throws {
        let (atom, wire) = Atom.scripted(.json(Double.nan))
        #expect(await failure(atom)?.description.contains("can't be encoded") == true)
        #expect(throws: ScriptProblem.self) { try wire.verify() }
    }

    @Test func failuresSayWhatTheirCodeMeans() async throws {
        let (atom, _) = Atom.scripted(
            .failure(.notConnectedToInternet), .failure(.networkConnectionLost),
            .failure(.cannotFindHost, delivery: .notSent).times(2))
        let offline = await failure(atom)
        #expect(offline?.sessionCode == .notConnectedToInternet)
        #expect(offline?.delivery == .maybeSent)
        #expect(await failure(atom)?.delivery == .maybeSent)
        // Nothing was sent, so it is sent again once.
        let unknown = await failure(atom)
        #expect(unknown?.delivery == .notSent)
        #expect(unknown?.attempts.count == 2)
    }

    @Test func chunksArriveOneByOneAndCanEndBadly() async throws {
        let parts = [Data("one\n".utf8), Data("two\n".utf8)]
        let (atom, _) = Atom.scripted(.chunks(parts), .chunks(parts, ending: .failure(.networkConnectionLost)))
        var lines: [String] = []
        for try await line in try await atom.enqueue(Call()).lines() { lines.append(line) }
        #expect(lines == ["one", "two"])
        lines = []
        await #expect(throws: AtomError.self) {
            for try await line in try await atom.enqueue(Call()).lines() { lines.append(line) }
        }
        #expect(lines == ["one", "two"])
    }

    @Test func eventsAreThoseThatWereGiven() async throws {
        let events = [
            ServerSentEvent(data: "a"), ServerSentEvent(type: "gate", data: "b\nc", id: "7"),
            ServerSentEvent(data: "", id: "7"), ServerSentEvent(data: "d", id: ""),
        ]
        let (atom, wire) = Atom.scripted(.events(events), .events(["x", "y"], ending: .never))
        var heard: [ServerSentEvent] = []
        for try await event in try await atom.enqueue(Call()).serverSentEvents() { heard.append(event) }
        #expect(heard == events)
        for try await event in try await atom.enqueue(Call()).serverSentEvents() where event.data == "y" { break }
        await wire.idle()
        #expect(wire.requests.allSatisfy { $0["Accept"] == "text/event-stream" })
    }

    @Test func dataOfSeveralLinesArrivesWhole() async throws {
        let (atom, _) = Atom.scripted(.events([ServerSentEvent(data: "a\r\nb\rc\n")]))
        var heard: [String] = []
        for try await event in try await atom.enqueue(Call()).serverSentEvents() { heard.append(event.data) }
        #expect(heard == ["a\nb\nc\n"])
    }

    @Test func redirectsAreFollowed() async throws {
        let (atom, wire) = Atom.scripted(.redirect(to: "/there"), .status(204))
        try await atom.enqueue(Call()).resume()
        #expect(wire.requests.map(\.path) == ["/x", "/there"])
        #expect(wire.requests.map(\.attempt) == [1, 2])
    }

    @Test func filesAreDownloaded() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let content = Data((0..<200_000).map { UInt8($0 % 251) })
        let source = folder.appendingPathComponent("source")
        try content.write(to: source)
        let (atom, wire) = Atom.scripted(.file(source), .file(folder.appendingPathComponent("nothing")))
        let copy = folder.appendingPathComponent("copy")
        try await atom.enqueue(Call()).download(to: copy)
        #expect(try Data(contentsOf: copy) == content)
        #expect(await failure(atom)?.description.contains("can't be read") == true)
        #expect(throws: ScriptProblem.self) { try wire.verify() }
    }

    @Test func anAnswerCanDependOnTheRequest() async throws {
        struct Failure: Error {}
        let (atom, wire) = Atom.scripted(
            .computed { .text($0.query("q") ?? "") }.times(2), .computed { _ in throw Failure() })
        #expect(try await atom.enqueue(Call(queryItems: ["q": "a b"])).resume(expecting: String.self) == "a b")
        #expect(try await atom.enqueue(Call()).resume(expecting: String.self) == "")
        #expect(await failure(atom)?.description.contains("its answer throws Failure") == true)
        #expect(throws: ScriptProblem.self) { try wire.verify() }
    }

    @Test func anAnswerCanBeGivenSeveralTimesOrAlways() async throws {
        let (atom, wire) = Atom.scripted(.text("a").times(2), .text("b").always)
        var texts: [String] = []
        for _ in 0..<5 { texts.append(try await atom.enqueue(Call()).resume(expecting: String.self)) }
        #expect(texts == ["a", "a", "b", "b", "b"])
        try wire.verify()
    }

    @Test func aHeadHasNoBody() async throws {
        let (atom, _) = Atom.scripted(.text("body"))
        #expect(try await atom.enqueue(Call(method: .head)).resume().data.isEmpty)
    }

    @Test func aDelayedAnswerComesByTheClock() async throws {
        let (atom, wire) = Atom.scripted(.delayed(.seconds(3), .text("late")))
        async let text = atom.enqueue(Call()).resume(expecting: String.self)
        await wire.idle()
        wire.clock.advance(by: .seconds(2))
        #expect(wire.isIdle)
        wire.clock.advance(by: .seconds(1))
        #expect(try await text == "late")
        await wire.idle()
    }

    @Test(arguments: [
        ScriptedResponse.never, .delayed(.seconds(1), .status(200)), .chunks([Data([1])], ending: .never),
    ])
    func whatWaitsEndsWhenItIsCancelled(_ answer: ScriptedResponse) async throws {
        let (atom, wire) = Atom.scripted(answer)
        let task = Task { await failure(atom) }
        await wire.idle()
        task.cancel()
        #expect(await task.value?.isCancelled == true)
        await wire.idle()
        wire.clock.advance(by: .seconds(2))
        #expect(wire.isIdle)
    }

    @Test func everythingCanHappenInsideStart() async throws {
        let (atom, wire) = Atom.scripted(.text("now"), delivery: .immediate)
        #expect(try await atom.enqueue(Call()).resume(expecting: String.self) == "now")
        await wire.idle()
    }
}
