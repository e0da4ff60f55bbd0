/// The plugins of one service, the first one outermost.
///
/// They run on this actor until they suspend: one plugin at a time, so that requests stay in order, and none holds up
/// those of another service.
actor PluginChain {
    private let plugins: [any AtomPlugin]

    init?(_ plugins: [any AtomPlugin]) {
        if plugins.isEmpty { return nil }
        self.plugins = plugins
    }

    /// Lets each plugin send a request, the last one to `inside`, and tells what comes of it.
    func send(
        _ requestable: any Requestable, inside: NextHandler,
        ended: @Sendable (Result<AtomResponse, AtomError>) -> Void
    ) async {
        let outcome: Result<AtomResponse, AtomError>
        do throws(AtomError) {
            outcome = .success(try await Self.pass(requestable, to: plugins[...], inside: inside))
        } catch {
            outcome = .failure(error)
        }
        ended(outcome)
    }

    private nonisolated(nonsending) static func pass(
        _ requestable: any Requestable, to plugins: ArraySlice<any AtomPlugin>, inside: NextHandler
    ) async throws(AtomError) -> AtomResponse {
        guard let plugin = plugins.first else { return try await inside(requestable) }
        return try await plugin.send(
            requestable,
            next: NextHandler { (requestable) throws(AtomError) in
                try await pass(requestable, to: plugins.dropFirst(), inside: inside)
            })
    }
}

/// Where the tasks of requests with plugins begin: in the order in which they are created, which a task that begins
/// elsewhere and goes to an actor loses. Nothing is done here but to go on to a ``PluginChain``.
@globalActor actor PluginOrder {
    static let shared = PluginOrder()
}
