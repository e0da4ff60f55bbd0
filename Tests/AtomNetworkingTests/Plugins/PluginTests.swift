import AtomNetworkingTesting
import Foundation
import Testing

@testable import AtomNetworking

@Suite("A plugin stands around requests", .limited)
struct PluginTests {
    private let endpoint = PathEndpoint()

    @Test("It answers without the server")
    func answers() async throws {
        let observer = RecordingObserver()
        let service = SharingFixture(
            plugins: ScriptedPlugin { (_, _) throws(AtomError) in
                AtomResponse(data: Data("[1]".utf8), statusCode: 203)
            }, changing: { $0.observers = [observer] })
        #expect(try await service.atom.enqueue(endpoint).resume(expecting: [Int].self) == [1])
        #expect(await service.call(endpoint).status() == 203)
        #expect(service.count == 0)
        #expect(observer.story().isEmpty)
    }

    @Test("What it throws is what the caller gets")
    func refuses() async {
        let reason = RequestableError.Violation(reason: "closed at night")
        let service = SharingFixture(
            plugins: ScriptedPlugin { (_, _) throws(AtomError) in throw .requestable(.invalidURL(reason)) })
        guard case .requestable(.invalidURL(let violation))? = await service.call(endpoint).error() else {
            return #expect(Bool(false), "another error")
        }
        #expect(violation == reason)
        #expect(service.count == 0)
    }

    @Test("It changes the endpoint, the error and the response")
    func changes() async throws {
        let service = SharingFixture(
            plugins: ScriptedPlugin { (requestable, next) throws(AtomError) in
                do throws(AtomError) {
                    return try await next(PathEndpoint(pathText: "/other"))
                } catch {
                    guard case .response(let response) = error, response.statusCode == 404 else { throw error }
                    return AtomResponse(data: Data("none".utf8), statusCode: 200)
                }
            })
        let call = service.call(endpoint)
        await service.transport.exchange(0).answer(status: 404)
        #expect(try await call.outcome().get().body == "none")
        #expect(service.paths == ["/other"])
        #expect(call.count == 1)
    }

    @Test("It sends a request again")
    func again() async throws {
        let service = SharingFixture(
            plugins: ScriptedPlugin { (requestable, next) throws(AtomError) in
                do throws(AtomError) { return try await next(requestable) } catch { return try await next(requestable) }
            })
        let call = service.call(endpoint)
        await service.transport.exchange(0).answer(status: 503)
        await service.transport.exchange(1).answer("2")
        #expect(try await call.outcome().get().body == "2")
        #expect(service.count == 2 && call.count == 1)
    }

    @Test("The first one is outermost")
    func order() async throws {
        let steps = Locked<[String]>([])
        func plugin(_ name: String) -> ScriptedPlugin {
            ScriptedPlugin { (requestable, next) throws(AtomError) in
                steps.with { $0.append("> \(name)") }
                let response = try await next(requestable)
                steps.with { $0.append("< \(name)") }
                return response
            }
        }
        let service = SharingFixture(plugins: plugin("a"), plugin("b"))
        let call = service.call(endpoint)
        await service.transport.exchange(0).answer()
        #expect(await call.status() == 200)
        #expect(steps.value == ["> a", "> b", "< b", "< a"])
    }

    @Test("It has the caller's task-local values")
    func taskLocals() async throws {
        let seen = Locked<String?>(nil)
        let service = SharingFixture(
            plugins: ScriptedPlugin { (_, _) throws(AtomError) in
                seen.set(Trace.name)
                return .success
            })
        try await Trace.$name.withValue("screen") { _ = try await service.atom.enqueue(endpoint).resume() }
        #expect(seen.value == "screen")
    }

    private enum Trace {
        @TaskLocal static var name: String?
    }

    @Test("Requests in it share an exchange")
    func sharing() async throws {
        let plugin = CountingPlugin()
        let service = SharingFixture(plugins: plugin)
        let calls = (0..<3).map { _ in service.call() }
        #expect(await service.atom.hasSharers(3))
        #expect(service.count == 1 && plugin.calls.value == 3)
        // One that leaves harms nobody.
        calls[1].cancel()
        #expect(await calls[1].error()?.isCancelled == true)
        try service.last.answer("shared")
        for call in [calls[0], calls[2]] { #expect(try await call.outcome().get().body == "shared") }
        #expect(service.transport.cancelled == 0)
    }

    @Test("Observers hear the exchanges in it")
    func observers() async {
        let observer = RecordingObserver()
        let service = SharingFixture(plugins: CountingPlugin(), changing: { $0.observers = [observer] })
        let call = service.call(endpoint)
        await service.transport.exchange(0).answer()
        #expect(await call.status() == 200)
        #expect(observer.summaries.map(\.statusCode) == [200])
    }

    @Test("A request with an invalid timeout, or to nowhere, fails as without it")
    func invalid() async {
        let plugin = CountingPlugin()
        let service = SharingFixture(plugins: plugin)
        let untimed = PathEndpoint(timeout: ServiceTimeout(request: 1, resource: 0))
        guard case .requestable(.invalidTimeout)? = await service.call(untimed).error() else {
            return #expect(Bool(false), "another error")
        }
        #expect(plugin.calls.value == 0)
        guard case .requestable(.invalidURLPath)? = await service.call(PathEndpoint(pathText: "x")).error() else {
            return #expect(Bool(false), "another error")
        }
        #expect(plugin.calls.value == 1 && service.count == 0)
    }

    @Test("It gets nothing that the SDK sends itself, nor a question for a credential")
    func ownRequests() async throws {
        let plugin = CountingPlugin()
        let session = try SessionFixture(lifetime: 0, change: { $0.plugins = [plugin] })
        let call = session.call()
        await session.refresh().grant(1)
        let url = try #require(URL(string: "https://api.example.com/socket"))
        let authorization = try await session.atom.authorization(for: url)
        #expect(authorization.headerItem.value == "Bearer A1")
        #expect(await eventually { session.sent.count == 1 })
        session.sent.first?.answer()
        #expect(await call.status() == 200)
        #expect(plugin.calls.value == 1)
    }

    @Test("A 401 is announced if the caller gets it, and once", arguments: [true, false])
    func notifications(isMended: Bool) async throws {
        let queue = DispatchQueue(label: "completions")
        let key = DispatchSpecificKey<Bool>()
        queue.setSpecific(key: key, value: true)
        let posted = Locked(0)
        let token = NotificationCenter.default.addObserver(
            forName: Atom.didFailToAuthorizeRequest, object: nil, queue: nil
        ) { _ in if DispatchQueue.getSpecific(key: key) == true { posted.with { $0 += 1 } } }
        defer { NotificationCenter.default.removeObserver(token) }
        let service = SharingFixture(
            plugins: ScriptedPlugin { (requestable, next) throws(AtomError) in
                do throws(AtomError) { return try await next(requestable) } catch {
                    guard isMended else { throw error }
                    return .success
                }
            }, changing: { $0.dispatchQueue = queue })
        let call = service.call(endpoint)
        async let outcome = service.atom.enqueue(endpoint).outcome()
        for number in 0..<2 { await service.transport.exchange(number).answer(status: 401) }
        #expect(await call.error()?.isAuthorizationFailure == (isMended ? nil : true))
        #expect(await outcome.error?.isAuthorizationFailure == (isMended ? nil : true))
        // What was dispatched before has been posted then.
        for _ in 0..<3 { await withCheckedContinuation { done in queue.async { done.resume() } } }
        #expect(posted.value == (isMended ? 0 : 2))
    }

    @Test("The progress of a body is told in each attempt, and not after the end")
    func progress() async throws {
        let service = SharingFixture(
            plugins: ScriptedPlugin { (requestable, next) throws(AtomError) in
                do throws(AtomError) { return try await next(requestable) } catch { return try await next(requestable) }
            })
        let heard = Locked<[Int64]>([])
        let endpoint = SharedEndpoint(method: .post(Data(count: 8)), sharesIdenticalRequests: false)
        let call = Locked<Result<Data, AtomError>?>(nil)
        let isTold = Signal()
        service.atom.enqueue(endpoint).resume(
            expecting: Data.self, progress: { progress in heard.with { $0.append(progress.completed) } },
            completion: { result in
                call.set(result)
                isTold.raise()
            })
        for (number, status) in [(0, 503), (1, 200)] {
            let exchange = await service.transport.exchange(number)
            exchange.send(.sent(8))
            exchange.answer(status: status)
        }
        await isTold.wait()
        #expect(try call.value?.get() == Data())
        #expect(heard.value == [8, 8])
    }
}
