import AtomNetworking
import AtomNetworkingTesting
import Foundation
import Testing

/// A view model as an app has one.
@MainActor
private final class SeatCounter {
    private(set) var rows: [Int] = []
    private(set) var failures: [AtomError] = []
    private(set) var places: [Place] = []
    let heard = Signal()

    func note() { places.append(.current) }

    func hear(_ result: Result<Int, AtomError>) {
        places.append(.current)
        switch result {
        case .success(let row): rows.append(row)
        case .failure(let error): failures.append(error)
        }
        heard.raise()
    }
}

/// Where a completion ran.
private enum Place: Sendable, Equatable {
    case mainActor, configured, elsewhere

    static let queue = {
        let queue = DispatchQueue(label: "completions")
        queue.setSpecific(key: queueKey, value: true)
        return queue
    }()

    private static let queueKey = DispatchSpecificKey<Bool>()
    // Without a run loop the main queue isn't bound to the main thread.
    private static let mainKey = {
        let key = DispatchSpecificKey<Bool>()
        DispatchQueue.main.setSpecific(key: key, value: true)
        return key
    }()

    static var current: Place {
        if DispatchQueue.getSpecific(key: queueKey) == true { return .configured }
        return DispatchQueue.getSpecific(key: mainKey) == true ? .mainActor : .elsewhere
    }
}

private struct Upload: Requestable {
    var method: HTTPMethod { .post(Data("body".utf8)) }
    func baseURL() throws(AtomError) -> BaseURL { try BaseURL(host: "api.example.com") }
}

@Suite("Completions on the main actor", .limited)
struct MainActorCompletionTests {
    private static func atom(_ transport: ScriptedTransport, _ queue: DispatchQueue = Place.queue) -> Atom {
        var configuration = ServiceConfiguration(dispatchQueue: queue)
        configuration.transport = transport
        configuration.timeSource = transport.clock
        return Atom(serviceConfiguration: configuration)
    }

    @Test(arguments: [DispatchQueue.main, Place.queue])
    @MainActor
    func aLabelledCompletionRunsOnTheMainActorWhateverTheQueueIs(queue: DispatchQueue) async {
        let counter = SeatCounter()
        let transport = ScriptedTransport.held { $0.answer("12") }

        Self.atom(transport, queue).enqueue(PathEndpoint())
            .resume(expecting: Int.self, onMainActor: { counter.hear($0) })
        #expect(transport.exchanges.count == 1, "the request is started when resume returns")
        #expect(counter.places.isEmpty, "the completion is never called inside resume")

        await counter.heard.wait()
        #expect(counter.rows == [12])
        #expect(counter.places == [.mainActor])
    }

    @Test @MainActor func aTrailingClosureRunsOnTheMainActorIfItSaysSo() async {
        let counter = SeatCounter()
        let transport = ScriptedTransport.held { $0.answer("12") }

        Self.atom(transport).enqueue(PathEndpoint()).resume(expecting: Int.self) { @MainActor in counter.hear($0) }

        await counter.heard.wait()
        #expect(counter.rows == [12])
        #expect(counter.places == [.mainActor])
    }

    @Test @MainActor func aTrailingClosureThatSaysNothingRunsOnTheConfiguredQueue() async {
        let places = Locked<[Place]>([])
        let heard = Signal()
        let transport = ScriptedTransport.held { $0.answer("12") }
        let atom = Self.atom(transport)

        atom.enqueue(PathEndpoint()).resume(expecting: Int.self) { (_: Result<Int, AtomError>) in
            places.with { $0.append(.current) }
            atom.enqueue(PathEndpoint()).resume { _ in
                places.with { $0.append(.current) }
                heard.raise()
            }
        }

        await heard.wait()
        #expect(places.value == [.configured, .configured])
    }

    @Test func anInvalidRequestFailsOnTheMainActorToo() async {
        let counter = SeatCounter()
        let transport = ScriptedTransport.held()
        let service = Self.atom(transport).enqueue(PathEndpoint(pathText: "no slash"))

        await MainActor.run {
            service.resume(expecting: Int.self, onMainActor: { counter.hear($0) })
            #expect(counter.places.isEmpty, "the completion is never called inside resume")
        }

        await counter.heard.wait()
        #expect(await counter.failures.count == 1)
        #expect(await counter.places == [.mainActor])
        #expect(transport.exchanges.isEmpty)
    }

    @Test func aBodyThatDoesNotFitFailsOnTheMainActorToo() async {
        let counter = SeatCounter()
        let transport = ScriptedTransport.held { $0.answer("twelve") }

        Self.atom(transport).enqueue(PathEndpoint()).resume(expecting: Int.self, onMainActor: { counter.hear($0) })

        await counter.heard.wait()
        guard case .decoder = await counter.failures.first else {
            Issue.record("\(await counter.failures)")
            return
        }
        #expect(await counter.places == [.mainActor])
    }

    @Test(arguments: [DispatchQueue.main, Place.queue])
    @MainActor
    func progressAndCompletionRunOnTheMainActor(queue: DispatchQueue) async {
        let counter = SeatCounter()
        let reports = Locked<[Int64]>([])
        let transport = ScriptedTransport.held { exchange in
            exchange.send(.sent(4))
            exchange.answer("12")
        }

        Self.atom(transport, queue).enqueue(Upload()).resume(
            expecting: Int.self,
            progress: { progress in
                counter.note()
                reports.with { $0.append(progress.completed) }
            },
            onMainActor: { counter.hear($0) })

        await counter.heard.wait()
        #expect(counter.rows == [12])
        #expect(reports.value == [4], "the completion comes last")
        #expect(counter.places == [.mainActor, .mainActor])
    }

    @Test func trailingClosuresBesideAProgressRunOnTheConfiguredQueue() async {
        let places = Locked<[Place]>([])
        let heard = Signal()
        let transport = ScriptedTransport.held { $0.answer("12") }
        let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: file) }
        let atom = Self.atom(transport)

        // The calls are what is tested.
        // swift-format-ignore: OnlyOneTrailingClosureArgument
        atom.enqueue(Upload()).resume(expecting: Int.self, progress: { _ in }) { _ in
            places.with { $0.append(.current) }
            atom.enqueue(PathEndpoint()).download(to: file, progress: { _ in }) { _ in
                places.with { $0.append(.current) }
                atom.enqueue(PathEndpoint()).download(to: file) { (_: Result<AtomResponse, AtomError>) in
                    places.with { $0.append(.current) }
                    heard.raise()
                }
            }
        }

        await heard.wait()
        #expect(places.value == [.configured, .configured, .configured])
    }

    @Test @MainActor func theProgressOfAnAsyncCallRunsOnTheMainActor() async throws {
        let counter = SeatCounter()
        let (reported, report) = AsyncStream<Int64>.makeStream()
        let transport = ScriptedTransport.held { exchange in
            exchange.send(.sent(4))
            exchange.answer("12")
        }

        let row = try await Self.atom(transport).enqueue(Upload()).resume(
            progress: TransferProgress.onMainActor {
                counter.note()
                report.yield($0.completed)
            }, expecting: Int.self)

        #expect(row == 12)
        for await completed in reported.prefix(1) { #expect(completed == 4) }
        #expect(counter.places == [.mainActor])
    }

    @Test(arguments: [true, false])
    @MainActor
    func aDownloadRunsOnTheMainActor(isValid: Bool) async throws {
        let counter = SeatCounter()
        let reports = Locked<[Int64]>([])
        let transport = ScriptedTransport.held { $0.answer("12") }
        let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: file) }

        Self.atom(transport).enqueue(PathEndpoint(pathText: isValid ? "/x" : "x")).download(
            to: file, progress: { progress in reports.with { $0.append(progress.completed) } },
            onMainActor: { counter.hear($0.map { $0.statusCode ?? 0 }) })
        #expect(counter.places.isEmpty, "the completion is never called inside download")

        await counter.heard.wait()
        #expect(counter.rows == (isValid ? [200] : []))
        #expect(counter.failures.count == (isValid ? 0 : 1))
        #expect(reports.value == (isValid ? [2] : []))
        #expect(counter.places == [.mainActor])
    }

    @Test(arguments: [true, false])
    @MainActor
    func theWholeResponseArrivesOnTheMainActor(isValid: Bool) async {
        let counter = SeatCounter()
        let transport = ScriptedTransport.held { $0.answer("12") }

        Self.atom(transport).enqueue(PathEndpoint(pathText: isValid ? "/x" : "x"))
            .resume(onMainActor: { counter.hear($0.map { $0.statusCode ?? 0 }) })
        #expect(counter.places.isEmpty, "the completion is never called inside resume")

        await counter.heard.wait()
        #expect(counter.rows == (isValid ? [200] : []))
        #expect(counter.failures.count == (isValid ? 0 : 1))
        #expect(counter.places == [.mainActor])
    }

    @Test func itCanBeCancelled() async {
        let counter = SeatCounter()
        let transport = ScriptedTransport.held()

        let task = Self.atom(transport).enqueue(PathEndpoint())
            .resume(expecting: Int.self, onMainActor: { counter.hear($0) })
        task.cancel()
        task.cancel()

        await counter.heard.wait()
        guard case .cancelled = await counter.failures.first else {
            Issue.record("\(await counter.failures)")
            return
        }
        #expect(await counter.failures.count == 1)
    }

    @Test @MainActor func a401IsAnnouncedAfterTheCompletion() async {
        let order = Locked<[String]>([])
        let heard = Signal()
        let token = NotificationCenter.default.addObserver(
            forName: Atom.didFailToAuthorizeRequest, object: nil, queue: nil
        ) { notification in
            guard case .response(let response) = notification.userInfo?["error"] as? AtomError,
                response.data == Data("on the main actor".utf8)
            else { return }
            order.with { $0.append("observer") }
            heard.raise()
        }
        defer { NotificationCenter.default.removeObserver(token) }
        let transport = ScriptedTransport.held { $0.answer("on the main actor", status: 401) }

        Self.atom(transport).enqueue(PathEndpoint())
            .resume(expecting: Int.self, onMainActor: { _ in order.with { $0.append("completion") } })

        await heard.wait()
        #expect(order.value == ["completion", "observer"])
    }
}
