import AtomNetworkingTesting
import Foundation
import Testing

@testable import AtomNetworking

@Suite("Whoever keeps the handle of a request", .timeLimit(.minutes(1)))
struct ExchangeListenerTests {
    /// Keeps the handle, and is kept by its completion.
    private final class Screen: @unchecked Sendable {
        // Used on the test's thread, before the request ends.
        var task: ServiceTask?
        let isDone = Signal()
    }

    private struct SharedEndpoint: Requestable {
        func baseURL() throws -> BaseURL { try BaseURL(host: "api.example.com") }
        var sharesIdenticalRequests: Bool { true }
    }

    @Test("is let go of when the completion has been called", arguments: [false, true])
    func released(isShared: Bool) async throws {
        let transport = ScriptedTransport.held()
        var configuration = ServiceConfiguration(dispatchQueue: DispatchQueue(label: "completions"))
        configuration.transport = transport
        let atom = Atom(serviceConfiguration: configuration)
        weak var screen: Screen?
        let isDone: Signal
        do {
            let kept = Screen()
            screen = kept
            isDone = kept.isDone
            kept.task = atom.enqueue(isShared ? SharedEndpoint() : RecordingEndpoint() as any Requestable).resume { _ in
                kept.isDone.raise()
            }
        }
        #expect(screen != nil)
        transport.exchanges[0].answer()
        await isDone.wait()
        #expect(await eventually { screen == nil })
    }
}
