import AtomNetworking
import Foundation

private struct EndedExchange: TransportExchange { func cancel() {} }

/// Responds to every request at once.
private struct InstantTransport: Transport {
    let answer = TransportResponse(
        statusCode: 200,
        headerFields: HeaderFields([
            HeaderItem(name: "Content-Type", value: "application/json"),
            HeaderItem(name: "Content-Length", value: "193"),
            HeaderItem(name: "Date", value: "Tue, 01 Jan 2030 08:00:00 GMT"),
            HeaderItem(name: "Server", value: "memory"),
            HeaderItem(name: "Connection", value: "keep-alive"),
            HeaderItem(name: "X-Request-Id", value: "4f1c2b9a"),
        ]))
    let body = Data(count: 193)
    let exchange = EndedExchange()
    let exchangesPerOrigin: Int? = 6

    func start(
        _ request: TransportRequest, receive: @escaping @Sendable (TransportEvent) -> Void
    ) -> any TransportExchange {
        receive(.response(answer))
        receive(.data(body))
        receive(.finished)
        return exchange
    }
}

private final class Tokens: TokenCredentialWritable, @unchecked Sendable {
    // Accessed only under `lock`.
    private let lock = NSLock()
    private var credential = TokenCredential(
        accessToken: "A0.eyJzdWIiOiIxMjM0NTY3ODkwIn0.c2lnbmF0dXJl", expiresAt: Date() + 86_400, refreshToken: "R0")

    var tokenCredential: TokenCredential {
        get { lock.withLock { credential } }
        set { lock.withLock { credential = newValue } }
    }
}

private struct Endpoint: Requestable {
    func baseURL() throws(AtomError) -> BaseURL { try BaseURL(host: "api.example.com") }
    func path() throws(AtomError) -> URLPath { try URLPath("/v1/flights") }
}

/// Hears each event, and does nothing: what it does isn't the SDK's share.
private struct Hearing: RequestObserver {
    func observe(_ event: RequestEvent) {}
}

/// The cost of the SDK itself: the transport responds at once from memory, and
/// nothing is decoded.
///
///     share describe|async|completion|observed COUNT
///
/// `describe` only creates the URL of each request, which the others do too.
/// `observed` is `async` with three observers.
public enum OwnShare {
    private static func describe(_ count: Int) throws {
        for _ in 0..<count {
            let endpoint: any Requestable = Endpoint()
            _ = try TargetURL(base: endpoint.baseURL(), path: endpoint.path())
        }
    }

    private static func sendAsync(_ count: Int, _ atom: Atom) async throws {
        for _ in 0..<count { try await atom.enqueue(Endpoint()).resume() }
    }

    private static func sendWithCompletions(_ count: Int, _ atom: Atom, _ queue: DispatchQueue) {
        for _ in 0..<count {
            atom.enqueue(Endpoint()).resume { result in
                guard case .success = result else { fatalError("\(result)") }
            }
        }
        queue.sync {}
    }

    /// Runs the program, and returns when it is done.
    ///
    /// It blocks the calling thread, because Valgrind doesn't support an async
    /// `main`.
    ///
    /// - Parameter counters: Counters by name, which are read before and after
    ///   the requests; their increases are printed.
    public static func run(_ counters: [(name: String, count: @Sendable () -> Int)] = []) {
        guard CommandLine.arguments.count == 3, let count = Int(CommandLine.arguments[2]),
            ["describe", "async", "completion", "observed"].contains(CommandLine.arguments[1])
        else {
            print("usage: \(CommandLine.arguments[0]) describe|async|completion|observed COUNT")
            exit(2)
        }
        let form = CommandLine.arguments[1]
        let done = DispatchSemaphore(value: 0)
        Task.detached {
            do {
                let queue = DispatchQueue(label: "completions")
                let atom = try makeAtom(queue, isObserved: form == "observed")
                // Work that happens only once is done before counting.
                try await send(form, 100, atom, queue)
                let before = counters.map { $0.count() }
                try await send(form, count, atom, queue)
                for (counter, before) in zip(counters, before) {
                    print("\(counter.name)=\(counter.count() - before)")
                }
            } catch {
                fatalError("\(error)")
            }
            done.signal()
        }
        done.wait()
    }

    private static func makeAtom(_ queue: DispatchQueue, isObserved: Bool) throws -> Atom {
        var configuration = ServiceConfiguration(
            authenticationMethod: .bearer(
                try AuthorizationEndpoint(host: "auth.example.com", path: "/token"), ClientCredential(id: "client"),
                Tokens()),
            dispatchQueue: queue)
        configuration.transport = InstantTransport()
        if isObserved { configuration.observers = (0..<3).map { _ in Hearing() } }
        return Atom(serviceConfiguration: configuration)
    }

    private static func send(_ form: String, _ count: Int, _ atom: Atom, _ queue: DispatchQueue) async throws {
        switch form {
        case "describe": try describe(count)
        case "async", "observed": try await sendAsync(count, atom)
        default: sendWithCompletions(count, atom, queue)
        }
    }
}
