import AtomNetworking
import Dispatch

/// Writes a `curl` command for each attempt of a service's requests.
///
/// ```swift
/// import AtomNetworking
/// import AtomNetworkingExports
///
/// var configuration = ServiceConfiguration()
/// configuration.observers = [CurlCommandObserver { print($0) }]
/// ```
///
/// A request that is redirected or sent again has several commands, and so have
/// the SDK's own requests for tokens.
public struct CurlCommandObserver: RequestObserver {
    private let disclosure: RequestDisclosure
    private let writer: CommandWriter

    /// Creates an observer.
    ///
    /// - Parameters:
    ///   - disclosure: What the commands show. They hide credentials unless it is ``RequestDisclosure/everything``.
    ///   - write: Gets each command, soon after the transport has the request: one at a time, in their order, on a
    ///     queue of the observer's own. It may wait, but commands that are then too many are left out, and a comment
    ///     says how many.
    public init(
        showing disclosure: RequestDisclosure = .allButCredentials, write: @escaping @Sendable (String) -> Void
    ) {
        self.disclosure = disclosure
        writer = CommandWriter(write)
    }

    /// Notes the request if the event is an attempt.
    public func observe(_ event: RequestEvent) {
        guard case .sent(let request) = event.kind else { return }
        writer.add(NotedRequest(request.transportRequest, showing: disclosure))
    }
}

/// Writes commands elsewhere than where requests are observed: to search a large body for credentials takes long.
private final class CommandWriter: Sendable {
    private struct State {
        var waiting: [NotedRequest] = []
        var bodySize = 0
        var leftOut = 0
        /// Whether the queue writes, or is going to.
        var isWriting = false
    }

    /// So much waits at most.
    private static let (longestLine, largestSize) = (1_000, 16 << 20)

    private let state = Guarded(State())
    private let queue = DispatchQueue(label: "AtomNetworking.CurlCommandObserver")
    private let write: @Sendable (String) -> Void

    init(_ write: @escaping @Sendable (String) -> Void) { self.write = write }

    func add(_ request: NotedRequest) {
        let starts = state.withLock { state in
            if state.waiting.count < Self.longestLine, state.bodySize + request.bodySize <= Self.largestSize {
                state.waiting.append(request)
                state.bodySize += request.bodySize
            } else {
                state.leftOut += 1
            }
            defer { state.isWriting = true }
            return !state.isWriting
        }
        if starts { queue.async { self.writeAll() } }
    }

    private func writeAll() {
        while true {
            let (requests, leftOut) = state.withLock { state in
                defer { state = State(isWriting: !state.waiting.isEmpty) }
                return (state.waiting, state.leftOut)
            }
            if requests.isEmpty { return }
            for request in requests { write(CurlCommand(ShownRequest(request)).text) }
            if leftOut > 0 { write("# Left out, since more were sent than could be written: \(leftOut)") }
        }
    }
}
