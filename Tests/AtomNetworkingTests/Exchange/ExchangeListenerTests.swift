import AtomNetworkingTesting
import Foundation
import Testing

@testable import AtomNetworking

@Suite("Whoever keeps the handle of a request", .limited)
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

    enum Kind: CaseIterable { case alone, shared, withProgress, download }

    @Test("What keeps a request's handle is let go of when the completion has been called", arguments: Kind.allCases)
    func released(kind: Kind) async throws {
        let folder = try TemporaryFolder()
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
            let service = atom.enqueue(kind == .shared ? SharedEndpoint() : RecordingEndpoint() as any Requestable)
            let progress = { @Sendable (_: TransferProgress) in _ = kept }
            let completion = { @Sendable (_: Result<AtomResponse, AtomError>) in kept.isDone.raise() }
            kept.task =
                switch kind {
                case .alone, .shared: service.resume(completion)
                case .withProgress:
                    service.resume(expecting: Data.self, progress: progress) { _ in kept.isDone.raise() }
                case .download:
                    service.download(to: folder["file"], progress: progress, completion: completion)
                }
        }
        #expect(screen != nil)
        transport.exchanges[0].answer()
        await isDone.wait()
        #expect(await eventually { screen == nil })
    }
}
