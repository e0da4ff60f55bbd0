import AtomNetworking
import AtomNetworkingTesting
import Foundation
import Testing

/// A serial queue that is an actor's executor, and knows when code runs on it.
private final class QueueExecutor: SerialExecutor {
    private static let key = DispatchSpecificKey<Bool>()
    private let queue = DispatchQueue(label: "actor")
    let jobs = Locked(0)

    init() {
        queue.setSpecific(key: Self.key, value: true)
    }

    static var isCurrent: Bool { DispatchQueue.getSpecific(key: key) == true }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        jobs.with { $0 += 1 }
        queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }
}

/// Where something ran.
private enum Place: Sendable, Equatable {
    case mainActor, actor, elsewhere

    // Without a run loop the main queue isn't bound to the main thread.
    private static let mainKey = {
        let key = DispatchSpecificKey<Bool>()
        DispatchQueue.main.setSpecific(key: key, value: true)
        return key
    }()

    static var current: Place {
        if QueueExecutor.isCurrent { return .actor }
        return DispatchQueue.getSpecific(key: mainKey) == true ? .mainActor : .elsewhere
    }
}

/// A model that tells where it was decoded.
private struct Traveller: Decodable {
    static let key = CodingUserInfoKey(rawValue: "place")

    init(from decoder: any Decoder) throws {
        guard let key = Self.key, let place = decoder.userInfo[key] as? Locked<Place?> else { return }
        place.set(.current)
    }
}

private struct WatchedEndpoint: Requestable {
    let readAt: Locked<Place?>

    func baseURL() throws(AtomError) -> BaseURL {
        readAt.set(.current)
        return try BaseURL(host: "api.example.com")
    }
}

/// Resumes requests, and notes where each part of that runs.
private struct Journey: Sendable {
    let readAt = Locked<Place?>(nil)
    let decodedAt = Locked<Place?>(nil)
    let transport = ScriptedTransport.held()
    let service: Service

    init() {
        let decoder = JSONDecoder()
        if let key = Traveller.key { decoder.userInfo[key] = decodedAt }
        var configuration = ServiceConfiguration(decoder: decoder, timeout: .patient)
        configuration.transport = transport
        service = Atom(serviceConfiguration: configuration).enqueue(WatchedEndpoint(readAt: readAt))
    }

    /// Answers the next exchange on a thread of its own, once it has started.
    func answer(status: Int = 200) {
        let index = transport.exchanges.count
        Task.detached { await transport.exchange(index).answer("{}", status: status) }
    }
}

private actor Caller {
    private let executor = QueueExecutor()
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    func decode(_ journey: Journey) async throws -> Place {
        journey.answer()
        _ = try await journey.service.resume(expecting: Traveller.self)
        return .current
    }

    func fail(_ journey: Journey) async -> Place {
        journey.answer(status: 404)
        do {
            try await journey.service.resume()
            return .elsewhere
        } catch {
            return .current
        }
    }

    func resume(_ service: Service) async {
        _ = try? await service.resume()
    }

    /// Reads a stream to its end.
    ///
    /// - Returns: How many elements there were, and how often the actor was entered for them.
    func read<Stream: AsyncSequence & Sendable>(_ stream: Stream) async throws -> (elements: Int, jobs: Int) {
        let first = executor.jobs.value
        var elements = 0
        for try await _ in stream { elements += 1 }
        return (elements, executor.jobs.value - first)
    }
}

extension ServiceTimeout {
    /// No test here is about time, and another one may hold up the threads.
    fileprivate static let patient = ServiceTimeout(request: 600, resource: 1_200)
}

@MainActor private func decodeOnMainActor(_ journey: Journey) async throws -> Place {
    journey.answer()
    _ = try await journey.service.resume(expecting: Traveller.self)
    return .current
}

private func decodeNowhere(_ journey: Journey) async throws {
    journey.answer()
    _ = try await journey.service.resume(expecting: Traveller.self)
}

/// G3: a request is on its way before its caller suspends, and nobody's actor decodes.
@Suite("An async call keeps its caller's isolation up to admission, and leaves it to decode", .limited)
struct CallerIsolationTests {
    @Test("A request of the main actor is prepared on it and decoded off it")
    func mainActor() async throws {
        let journey = Journey()
        #expect(try await decodeOnMainActor(journey) == .mainActor)
        #expect(journey.readAt.value == .mainActor)
        #expect(journey.decodedAt.value == .elsewhere)
    }

    @Test("A request of an actor with its own executor is prepared on it and decoded off it")
    func actor() async throws {
        let journey = Journey()
        #expect(try await Caller().decode(journey) == .actor)
        #expect(journey.readAt.value == .actor)
        #expect(journey.decodedAt.value == .elsewhere)

        let failing = Journey()
        #expect(await Caller().fail(failing) == .actor)
        #expect(failing.readAt.value == .actor)
    }

    @Test("A request that comes from no actor is prepared and decoded on none")
    func nonisolated() async throws {
        let journey = Journey()
        try await decodeNowhere(journey)
        #expect(journey.readAt.value == .elsewhere)
        #expect(journey.decodedAt.value == .elsewhere)
    }

    @Test(
        "A loop over a stream leaves its actor only where nothing is there",
        arguments: ["lines", "values", "events", "bytes"])
    func stream(kind: String) async throws {
        let transport = ScriptedTransport.held { exchange in
            let events = HeaderFields([.init(name: "Content-Type", value: "text/event-stream")])
            exchange.send(.response(TransportResponse(statusCode: 200, headerFields: events)))
            let lines = kind == "events" ? "data: a\n\n" : "1\n"
            for _ in 0..<100 { exchange.send(.data(Data(String(repeating: lines, count: 100).utf8))) }
            exchange.send(.finished)
        }
        var configuration = ServiceConfiguration(timeout: .patient)
        configuration.transport = transport
        let service = Atom(serviceConfiguration: configuration).enqueue(PathEndpoint())
        let caller = Caller()
        let (elements, jobs) =
            switch kind {
            case "lines": try await caller.read(service.lines())
            case "values": try await caller.read(service.jsonLines(of: Int.self))
            case "events": try await caller.read(service.serverSentEvents())
            default: try await caller.read(service.bytes())
            }
        #expect(elements == (kind == "bytes" ? 100 : 10_000))
        // Values are decoded elsewhere, those of a part at once.
        #expect(jobs < (kind == "values" ? 110 : 10))
    }

    @Test("A line is decoded off its reader's actor")
    func decodedLine() async throws {
        let journey = Journey()
        journey.answer()
        let (elements, _) = try await Caller().read(journey.service.jsonLines(of: Traveller.self))
        #expect(elements == 1)
        #expect(journey.decodedAt.value == .elsewhere)
    }

    @Test("Requests of an actor's tasks start in the order of the tasks")
    func order() async {
        let transport = ScriptedTransport.held { $0.answer() }
        var configuration = ServiceConfiguration(timeout: .patient)
        configuration.transport = transport
        let atom = Atom(serviceConfiguration: configuration)
        let caller = Caller()
        await caller.runAll((0..<300).map { atom.enqueue(PathEndpoint(pathText: "/\($0)")) })
        #expect(transport.requests.map { $0.target.url?.path } == (0..<300).map { "/\($0)" })
    }

    @Test("A request of the main actor has started when its caller suspends")
    @MainActor func startedBeforeSuspension() async throws {
        let transport = ScriptedTransport.held()
        var configuration = ServiceConfiguration(timeout: .patient)
        configuration.transport = transport
        let atom = Atom(serviceConfiguration: configuration)
        let first = Task { @MainActor in try await atom.enqueue(PathEndpoint(pathText: "/first")).resume() }
        let second = Task { @MainActor in
            // The first task has run up to where it suspends, and nothing else has had a chance to.
            transport.exchanges.map { $0.request.target.url?.path }
        }
        #expect(await second.value == ["/first"])
        transport.exchanges.first?.answer()
        _ = try await first.value
    }
}

extension Caller {
    fileprivate func runAll(_ services: [Service]) async {
        let tasks = services.map { service in Task { await resume(service) } }
        for task in tasks { await task.value }
    }
}
