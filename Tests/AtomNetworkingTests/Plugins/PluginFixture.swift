import AtomNetworkingTesting
import Foundation
import Testing

@testable import AtomNetworking

/// A plugin that does what a test says.
struct ScriptedPlugin: AtomPlugin {
    typealias Script =
        nonisolated(nonsending) @Sendable (any Requestable, NextHandler) async throws(AtomError) -> AtomResponse

    private let script: Script

    init(
        _ script:
            nonisolated(nonsending) @escaping @Sendable (any Requestable, NextHandler) async throws(AtomError) ->
            AtomResponse
    ) { self.script = script }

    nonisolated(nonsending) func send(
        _ requestable: any Requestable, next: NextHandler
    ) async throws(AtomError) -> AtomResponse { try await script(requestable, next) }
}

/// Passes everything on, and counts.
struct CountingPlugin: AtomPlugin {
    let calls = Locked(0)

    nonisolated(nonsending) func send(
        _ requestable: any Requestable, next: NextHandler
    ) async throws(AtomError) -> AtomResponse {
        calls.with { $0 += 1 }
        return try await next(requestable)
    }
}

/// Holds each request back until the test lets it go, whatever happens to its task.
struct HoldingPlugin: AtomPlugin {
    let isHeld = Signal()
    let goesOn = Signal()
    /// Whether its task was cancelled, when it went on.
    let wasCancelled = Locked(false)

    nonisolated(nonsending) func send(
        _ requestable: any Requestable, next: NextHandler
    ) async throws(AtomError) -> AtomResponse {
        isHeld.raise()
        await goesOn.wait(seconds: nil)
        wasCancelled.set(Task.isCancelled)
        return try await next(requestable)
    }
}

extension SharingFixture {
    init(
        plugins first: any AtomPlugin, _ others: any AtomPlugin...,
        changing change: (inout ServiceConfiguration) -> Void = { _ in }
    ) {
        self.init(changing: { configuration in
            configuration.plugins = [first] + others
            change(&configuration)
        })
    }

    /// The paths of what was sent, in order.
    var paths: [String] { transport.exchanges.map { $0.request.target.url?.path ?? "" } }
}

/// An endpoint around another one, with one header field more.
struct AttestedEndpoint: Requestable {
    let base: any Requestable
    let proof: String

    var headerItems: [HeaderItem]? { (base.headerItems ?? []) + [HeaderItem(name: "X-App-Proof", value: proof)] }
    var method: HTTPMethod { base.method }
    var queryItems: [QueryItem]? { base.queryItems }
    var requiresAuthorization: Bool { base.requiresAuthorization }
    var body: RequestBody? { base.body }
    var timeout: ServiceTimeout? { base.timeout }

    func baseURL() throws -> BaseURL { try base.baseURL() }
    func path() throws -> URLPath { try base.path() }
}

/// Gets a proof, and adds it to each request.
struct AttestingPlugin: AtomPlugin {
    let proof: @Sendable () async -> String

    nonisolated(nonsending) func send(
        _ requestable: any Requestable, next: NextHandler
    ) async throws(AtomError) -> AtomResponse {
        try await next(AttestedEndpoint(base: requestable, proof: await proof()))
    }
}
