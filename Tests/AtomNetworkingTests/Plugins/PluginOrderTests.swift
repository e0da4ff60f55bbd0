import AtomNetworkingTesting
import Foundation
import Testing

@testable import AtomNetworking

@Suite("Requests keep their order in plugins", .limited)
struct PluginOrderTests {
    private let expected = (0..<300).map { "/\($0)" }

    @Test("Those of one thread are sent in the order of its calls")
    func completions() async {
        let service = SharingFixture(plugins: CountingPlugin(), CountingPlugin())
        for path in expected { _ = service.call(PathEndpoint(pathText: path)) }
        #expect(await eventually { service.count == expected.count })
        #expect(service.paths == expected)
        for exchange in service.transport.exchanges { exchange.answer() }
    }

    @Test("So are those of tasks of one actor") @MainActor
    func tasks() async {
        let service = SharingFixture(plugins: CountingPlugin(), CountingPlugin())
        let tasks = expected.map { path in
            // Each is resumed on the main actor, in this order.
            Task { try await service.atom.enqueue(PathEndpoint(pathText: path)).resume() }
        }
        #expect(await eventually { service.count == expected.count })
        #expect(service.paths == expected)
        for task in tasks { task.cancel() }
        for task in tasks { await #expect(throws: AtomError.self) { try await task.value } }
    }

    @Test("One that is held back holds no other one up")
    func heldBack() async throws {
        let goesOn = Signal()
        let service = SharingFixture(
            plugins: ScriptedPlugin { (requestable, next) throws(AtomError) in
                if (requestable as? PathEndpoint)?.pathText == "/slow" { await goesOn.wait(seconds: nil) }
                return try await next(requestable)
            })
        let slow = service.call(PathEndpoint(pathText: "/slow"))
        let others = ["/a", "/b"].map { service.call(PathEndpoint(pathText: $0)) }
        for number in 0..<2 { await service.transport.exchange(number).answer() }
        for call in others { #expect(await call.status() == 200) }
        #expect(service.paths == ["/a", "/b"])
        goesOn.raise()
        await service.transport.exchange(2).answer()
        #expect(await slow.status() == 200)
    }
}
