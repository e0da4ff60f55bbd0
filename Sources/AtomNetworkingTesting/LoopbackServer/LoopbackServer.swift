import Foundation

/// An HTTP/1.1 server on the loopback interface for tests, which can also misbehave.
///
/// It runs one thread per connection, on a free port, and records every
/// request. Tests wait for events and delay responses with a ``Gate``, without
/// sleeping.
///
/// <!-- given: import Foundation -->
/// ```swift
/// import AtomNetworkingTesting
///
/// let server = try LoopbackServer { request in
///     request["Authorization"] == "Bearer new" ? .json("{}") : .text("expired", status: 401)
/// }
/// defer { server.stop() }
/// let url = server.url("/v1/me")  // where your code sends its request
/// await server.waitForRequests(1)
/// assert(server.requests[0].path == "/v1/me")
/// ```
public final class LoopbackServer: Sendable {
    /// A system call that failed during the setup of the server.
    public struct SetupError: Error, Sendable {
        /// The call, for example `bind`.
        public let call: String
        /// The value of `errno`.
        public let code: Int32
    }

    /// The host for a URL: `127.0.0.1` or `[::1]`.
    public let host: String
    /// The port, chosen by the system unless you specified one.
    ///
    /// It stays the same after ``stop()``.
    public let port: Int

    private let ledger: Ledger
    private let threads: ServerThreads

    /// Starts a server.
    ///
    /// - Parameters:
    ///   - ipv6: Whether to listen on `::1` instead of 127.0.0.1.
    ///   - port: A specific port, for example that of an earlier server; 0 for any free one.
    ///   - keepsBodies: Whether requests keep their bodies, or only count the bytes.
    ///   - maximumBodyLength: A longer body gets a 413 and counts as malformed.
    ///   - handler: Responds to a request. It is called on the connection's thread, concurrently, and may block. A
    ///     handler that refers to its server should do so weakly, or ``stop()`` must be called.
    /// - Throws: ``SetupError``
    public init(
        ipv6: Bool = false, port: Int = 0, keepsBodies: Bool = true, maximumBodyLength: Int64 = 1 << 30,
        handler: @escaping Handler
    ) throws {
        let listener: Socket
        (listener, self.port) = try Socket.listening(ipv6: ipv6, port: port)
        host = ipv6 ? "[::1]" : "127.0.0.1"
        ledger = Ledger()
        threads = ServerThreads(name: "Loopback \(self.port)")
        let limits = RequestReader.Limits(keepsBodies: keepsBodies, maximumBodyLength: maximumBodyLength)
        threads.startAccepting(on: listener) { [ledger, threads] socket in
            guard let number = ledger.connectionAccepted(socket) else { return socket.discard() }
            threads.startServing {
                Connection(socket: socket, number: number, ledger: ledger, limits: limits).serve(with: handler)
            }
        }
    }

    /// Starts a server on a free port that chooses by method and path; see ``routes(_:)``.
    ///
    /// - Throws: ``SetupError``
    public convenience init(routes: [String: Handler]) throws {
        try self.init(handler: Self.routes(routes))
    }

    deinit {
        stop()
    }

    /// Closes everything and ends all threads; after that the port refuses connections.
    ///
    /// Another call only waits for the end.
    ///
    /// It waits up to ten seconds for running handlers, except when a handler itself calls it.
    public func stop() {
        ledger.stop()
        threads.stop()
        ledger.end()
    }

    /// A URL on this server; the target begins with a slash and is percent-encoded.
    public func url(_ target: String = "/") -> URL {
        guard let url = URL(string: "http://\(host):\(port)\(target)") else {
            preconditionFailure("Not a request target: \(target)")
        }
        return url
    }

    /// Closes idle connections without notice, as a server does when its idle
    /// timeout passes, and busy ones after their response.
    ///
    /// New connections are accepted.
    public func closeConnections() {
        ledger.closeConnections()
    }
}

// MARK: - Observations

extension LoopbackServer {
    /// All requests that have arrived completely, in order of arrival.
    public var requests: [Request] { ledger.requests }

    /// How many requests have arrived completely.
    public var requestCount: Int { ledger.counts.requests }

    /// How many requests have arrived and have no complete response yet.
    public var requestsInProgress: Int { ledger.counts.inProgress }

    /// The largest number of requests that were in progress at once.
    ///
    /// A request counts until just before the last bytes of its response are sent, so the number isn't larger than the
    /// client's number. Only one that the client has given up counts until the server notices, and one whose steps go
    /// on behind the last byte, with ``Response/Step/wait(_:)`` for example, until they are done.
    public var mostRequestsAtOnce: Int { ledger.counts.mostAtOnce }

    /// How many connections have been accepted so far.
    public var connectionCount: Int { ledger.counts.connections }

    /// How many connections are open now.
    public var openConnections: Int { ledger.counts.openConnections }

    /// How often a client disconnected before its request or the response was complete.
    public var disconnects: Int { ledger.counts.disconnects }

    /// How many of the ``disconnects`` happened in the middle of a request.
    public var incompleteRequests: Int { ledger.counts.incomplete }

    /// How many requests weren't valid HTTP and got a 400 (or 413, 431, 501).
    public var malformedRequests: Int { ledger.counts.malformed }

    /// The reasons for the ``malformedRequests``, in order.
    public var malformedReasons: [String] { ledger.malformedReasons }
}

// MARK: - Waiting

extension LoopbackServer {
    /// Suspends until this many requests have arrived.
    ///
    /// Returns `false` if the time passes, the task is cancelled or the server stops first.
    @discardableResult
    public func waitForRequests(_ count: Int, seconds: Double = 120) async -> Bool {
        await ledger.wait(seconds: seconds) { $0.requests >= count }
    }

    /// Suspends until this many requests are in progress at the same time, for example waiting at a gate.
    @discardableResult
    public func waitForRequestsInProgress(_ count: Int, seconds: Double = 120) async -> Bool {
        await ledger.wait(seconds: seconds) { $0.inProgress >= count }
    }

    /// Suspends until this many clients have disconnected too early.
    @discardableResult
    public func waitForDisconnects(_ count: Int, seconds: Double = 120) async -> Bool {
        await ledger.wait(seconds: seconds) { $0.disconnects >= count }
    }

    /// Suspends until this many connections have been accepted.
    @discardableResult
    public func waitForConnections(_ count: Int, seconds: Double = 120) async -> Bool {
        await ledger.wait(seconds: seconds) { $0.connections >= count }
    }

    /// Suspends until at most this many connections are open.
    @discardableResult
    public func waitForOpenConnections(atMost count: Int, seconds: Double = 120) async -> Bool {
        await ledger.wait(seconds: seconds) { $0.openConnections <= count }
    }

    /// Suspends until this many malformed requests have arrived.
    @discardableResult
    public func waitForMalformedRequests(_ count: Int, seconds: Double = 120) async -> Bool {
        await ledger.wait(seconds: seconds) { $0.malformed >= count }
    }
}
