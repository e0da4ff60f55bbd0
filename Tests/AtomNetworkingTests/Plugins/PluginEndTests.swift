import AtomNetworkingTesting
import Foundation
import Testing

@testable import AtomNetworking

@Suite("A request ends in time, whatever its plugins do", .limited)
struct PluginEndTests {
    private let plugin = HoldingPlugin()
    private let endpoint = PathEndpoint(timeout: ServiceTimeout(request: 100, resource: 30))

    @Test("A caller who cancels is told at once, and nothing is sent")
    func cancelledBefore() async {
        let service = SharingFixture(plugins: plugin)
        let call = service.call(endpoint)
        await plugin.isHeld.wait()
        call.cancel()
        call.cancel()
        guard case .cancelled(.notSent)? = await call.error() else { return #expect(Bool(false), "not cancelled") }
        plugin.goesOn.raise()
        #expect(await eventually { plugin.wasCancelled.value })
        await service.hasPassed()
        #expect(service.paths == ["/passed"] && call.count == 1)
    }

    @Test("So is a task that is cancelled")
    func cancelledTask() async {
        let service = SharingFixture(plugins: plugin)
        let task = Task { await service.atom.enqueue(endpoint).outcome() }
        await plugin.isHeld.wait()
        task.cancel()
        guard case .failure(.cancelled(.notSent)) = await task.value else {
            return #expect(Bool(false), "not cancelled")
        }
        plugin.goesOn.raise()
        #expect(await eventually { plugin.wasCancelled.value })
        await service.hasPassed()
        #expect(service.paths == ["/passed"])
    }

    @Test("A cancellation on the wire ends the exchange, though the plugin keeps it in a task of its own")
    func cancelledOnTheWire() async throws {
        let service = SharingFixture(
            plugins: ScriptedPlugin { (requestable, next) throws(AtomError) in
                let task = Task { await Result { try await next(requestable) } }
                do { return try await task.value.get() } catch { throw error as? AtomError ?? .unexpected }
            })
        let call = service.call(endpoint)
        let exchange = await service.transport.exchange(0)
        call.cancel()
        guard case .cancelled(.maybeSent)? = await call.error() else { return #expect(Bool(false), "not cancelled") }
        #expect(await eventually { exchange.isCancelled })
    }

    @Test("A plugin that hangs has the endpoint's timeout")
    func hangs() async throws {
        let service = SharingFixture(plugins: plugin)
        let call = service.call(endpoint)
        await plugin.isHeld.wait()
        service.time.advance(by: .milliseconds(29_999))
        #expect(call.count == 0)
        service.time.advance(by: .milliseconds(1))
        let error = try #require(await call.error())
        #expect(error.delivery == .notSent)
        #expect(error.situation == .unreachable)
        #expect(error.request?.url == "https://api.example.com/x")
        guard case .session(let cause as URLError) = error else { return #expect(Bool(false), "another error") }
        #expect(cause.code == .timedOut)
        plugin.goesOn.raise()
        #expect(await eventually { plugin.wasCancelled.value })
        await service.hasPassed()
        #expect(service.paths == ["/passed"] && call.count == 1)
    }

    @Test("What it takes before is missing to the exchange")
    func afterAWhile() async throws {
        let service = SharingFixture(plugins: plugin)
        let call = service.call(endpoint)
        await plugin.isHeld.wait()
        service.time.advance(by: .seconds(20))
        plugin.goesOn.raise()
        _ = await service.transport.exchange(0)
        await service.hasPassed()
        service.time.advance(by: .milliseconds(9_999))
        #expect(call.count == 0)
        service.time.advance(by: .milliseconds(1))
        let error = try #require(await call.error())
        #expect(error.delivery == .maybeSent)
        #expect(error.attempts == [.connection(.timedOut)])
        #expect(call.count == 1)
    }

    @Test("After a response it has what is left, and a second at least", arguments: [(10, 20_000), (29, 1_000)])
    func afterTheResponse(seconds: Int, left: Int) async throws {
        let goesOn = Signal()
        let hasResponse = Signal()
        let service = SharingFixture(
            plugins: ScriptedPlugin { (requestable, next) throws(AtomError) in
                let response = try await next(requestable)
                hasResponse.raise()
                await goesOn.wait(seconds: nil)
                return response
            })
        let call = service.call(endpoint)
        let exchange = await service.transport.exchange(0)
        service.time.advance(by: .seconds(seconds))
        exchange.answer()
        await hasResponse.wait()
        service.time.advance(by: .milliseconds(left - 1))
        #expect(call.count == 0)
        service.time.advance(by: .milliseconds(1))
        #expect(await call.error()?.delivery == .answered)
        goesOn.raise()
    }

    @Test("It sends nothing again when the time is over")
    func noMoreTime() async throws {
        let service = SharingFixture(
            plugins: ScriptedPlugin { (requestable, next) throws(AtomError) in
                do throws(AtomError) { return try await next(requestable) } catch {
                    return try await next(requestable)
                }
            })
        let call = service.call(endpoint)
        _ = await service.transport.exchange(0)
        await service.hasPassed()
        service.time.advance(by: .seconds(30))
        let error = try #require(await call.error())
        #expect(error.situation == .unreachable && error.delivery == .maybeSent)
        #expect(service.paths.count { $0 == "/x" } == 1)
    }

    @Test("What it leaves running is cancelled, and later calls send nothing")
    func leftovers() async throws {
        let goesOn = Signal()
        let late = Locked<AtomError?>(nil)
        let isOver = Signal()
        let service = SharingFixture(
            plugins: ScriptedPlugin { (requestable, next) throws(AtomError) in
                let isSent = Signal()
                Task {
                    async let first = next(requestable)
                    isSent.raise()
                    _ = try? await first
                    await goesOn.wait(seconds: nil)
                    do throws(AtomError) { _ = try await next(requestable) } catch { late.set(error) }
                    isOver.raise()
                }
                await isSent.wait()
                return .success
            })
        let call = service.call(endpoint)
        #expect(await call.status() == 200)
        #expect(await eventually { service.transport.cancelled == service.count })
        goesOn.raise()
        await isOver.wait()
        guard case .cancelled(.notSent)? = late.value else { return #expect(Bool(false), "not cancelled") }
        #expect(service.count < 2)
    }

    @Test("Nothing is left of a request: no deadline, and not the plugin's task")
    func nothingIsLeft() async throws {
        let service = SharingFixture(plugins: CountingPlugin())
        weak var released: Object?
        do {
            let object = Object()
            released = object
            let call = Call()
            call.keep(
                service.atom.enqueue(endpoint).resume { [object] outcome in
                    withExtendedLifetime(object) { call.heard(outcome) }
                })
            await service.transport.exchange(0).answer()
            #expect(await call.status() == 200)
        }
        #expect(await eventually { released == nil })
        #expect(service.atom.manager.deadlines.count == 0)
    }

    private final class Object: Sendable {}
}

extension SharingFixture {
    /// Waits until the plugins have done what they were about to do: a later request is behind that.
    fileprivate func hasPassed() async {
        let count = count
        _ = call(PathEndpoint(pathText: "/passed", timeout: ServiceTimeout(request: 1_000, resource: 1_000)))
        _ = await transport.exchange(count)
    }
}
