/// The plugins of one service, the first one outermost.
///
/// They run on this actor until they suspend: one plugin at a time, so that requests stay in order, and none holds up
/// those of another service. Tasks come here in any order, and so each has a place from before it was created.
actor PluginChain {
    private let plugins: [any AtomPlugin]
    private let places = Guarded(0)
    /// Whose turn it is to begin.
    private var turn = 0
    /// Those who came before their turn.
    private var waiting: [Int: CheckedContinuation<Void, Never>] = [:]

    init?(_ plugins: [any AtomPlugin]) {
        if plugins.isEmpty { return nil }
        self.plugins = plugins
    }

    /// The place of a request in the order of the calls; its task must come.
    nonisolated func takePlace() -> Int {
        places.withLock { count in
            defer { count += 1 }
            return count
        }
    }

    /// Lets each plugin send a request, the last one to `inside`, and tells what comes of it.
    func send(
        _ requestable: any Requestable, at place: Int, inside: NextHandler,
        ended: @Sendable (Result<AtomResponse, AtomError>) -> Void
    ) async {
        if place != turn { await withCheckedContinuation { waiting[place] = $0 } }
        turn += 1
        // It goes on when this one suspends.
        waiting.removeValue(forKey: turn)?.resume()
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
