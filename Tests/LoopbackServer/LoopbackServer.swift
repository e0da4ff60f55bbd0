import Foundation

/// An HTTP/1.1 server on the loopback interface for tests, which can also misbehave.
///
/// It runs one thread per connection, on a free port, and remembers every request. Tests wait for what they want to
/// have happened and hold answers back with a ``Gate``; nobody sleeps.
///
/// ```swift
/// let server = try LoopbackServer { request in
///     request["Authorization"] == "Bearer new" ? .json("{}") : .text("expired", status: 401)
/// }
/// defer { server.stop() }
/// let (data, _) = try await URLSession.shared.data(from: server.url("/v1/me"))
/// await server.waitForRequests(1)
/// #expect(server.requests[0].path == "/v1/me")
/// ```
public final class LoopbackServer: Sendable {
    /// A call to the system that failed while the server was set up.
    public struct SetupError: Error, Sendable {
        /// The call, `bind` for example.
        public let call: String
        /// What `errno` said.
        public let code: Int32
    }

    /// The host to put in a URL: `127.0.0.1` or `[::1]`.
    public let host: String
    /// The port, chosen by the system unless you asked for one.
    ///
    /// It stays the same after ``stop()``.
    public let port: Int

    private let ledger: Ledger
    private let threads: ServerThreads

    /// Starts a server.
    ///
    /// - Parameters:
    ///   - ipv6: Whether to listen on `::1` and not on 127.0.0.1.
    ///   - port: A port, to come back where an earlier server was; 0 for any free one.
    ///   - keepsBodies: Whether requests keep their bodies, or only count the bytes.
    ///   - maximumBodyLength: A longer body is answered with 413 and counted as malformed.
    ///   - handler: Answers a request. Called on the connection's thread, many at a time; it may block. A handler that
    ///     refers to its server should do so weakly, or ``stop()`` must be called.
    /// - Throws: ``SetupError``
    public init(
        ipv6: Bool = false, port: Int = 0, keepsBodies: Bool = true, maximumBodyLength: Int64 = 1 << 30,
        handler: @escaping Handler
    ) throws {
        let listener: Socket
        (listener, self.port) = try Socket.listening(ipv6: ipv6, port: port)
        host = ipv6 ? "[::1]" : "127.0.0.1"
        ledger = Ledger()
        threads = ServerThreads()
        let limits = RequestReader.Limits(keepsBodies: keepsBodies, maximumBodyLength: maximumBodyLength)
        threads.startAccepting(on: listener) { [ledger, threads] socket in
            guard let number = ledger.connectionAccepted(socket) else { return socket.discard() }
            threads.startServing {
                Connection(socket: socket, number: number, ledger: ledger, limits: limits).serve(with: handler)
            }
        }
    }

    deinit {
        stop()
    }

    /// Closes everything and ends all threads; the port refuses connections from then on.
    ///
    /// Stopping again does nothing but wait for the end.
    ///
    /// A handler that is still running is waited for, except by itself; after ten seconds it is left alone.
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

    /// Closes the idle connections without a word, as servers do with those kept for too long, and each busy one as
    /// soon as its answer is complete.
    ///
    /// New ones are accepted.
    public func closeConnections() {
        ledger.closeConnections()
    }
}

// MARK: - What it has seen

extension LoopbackServer {
    /// All requests that have arrived completely, in order of arrival.
    public var requests: [Request] { ledger.requests }

    /// How many requests have arrived completely.
    public var requestCount: Int { ledger.counts.requests }

    /// How many requests have arrived and aren't answered yet.
    public var requestsInProgress: Int { ledger.counts.inProgress }

    /// The largest number of requests that were in progress at once.
    ///
    /// A request counts until the last bytes of its answer are about to be sent, so the number is never larger than
    /// what the client had in flight.
    public var mostRequestsAtOnce: Int { ledger.counts.mostAtOnce }

    /// How many connections have been accepted so far.
    public var connectionCount: Int { ledger.counts.connections }

    /// How many connections are open now.
    public var openConnections: Int { ledger.counts.openConnections }

    /// How often a client went away before its request or the answer to it was complete.
    public var disconnects: Int { ledger.counts.disconnects }

    /// How many of the ``disconnects`` came in the middle of a request.
    public var incompleteRequests: Int { ledger.counts.incomplete }

    /// How many requests weren't HTTP and were answered with 400 (or 413, 431, 501).
    public var malformedRequests: Int { ledger.counts.malformed }

    /// What was wrong with the ``malformedRequests``, in order.
    public var malformedReasons: [String] { ledger.malformedReasons }
}

// MARK: - Waiting

extension LoopbackServer {
    /// Suspends until so many requests have arrived.
    ///
    /// `false` if that doesn't happen: the time is over, the task is cancelled or the server stopped.
    @discardableResult
    public func waitForRequests(_ count: Int, seconds: Double = 120) async -> Bool {
        await ledger.wait(seconds: seconds) { $0.requests >= count }
    }

    /// Suspends until so many requests are in progress at the same time, held back by a gate for example.
    @discardableResult
    public func waitForRequestsInProgress(_ count: Int, seconds: Double = 120) async -> Bool {
        await ledger.wait(seconds: seconds) { $0.inProgress >= count }
    }

    /// Suspends until so many clients have gone away too early.
    @discardableResult
    public func waitForDisconnects(_ count: Int, seconds: Double = 120) async -> Bool {
        await ledger.wait(seconds: seconds) { $0.disconnects >= count }
    }

    /// Suspends until so many connections have been accepted.
    @discardableResult
    public func waitForConnections(_ count: Int, seconds: Double = 120) async -> Bool {
        await ledger.wait(seconds: seconds) { $0.connections >= count }
    }

    /// Suspends until no more than so many connections are open.
    @discardableResult
    public func waitForOpenConnections(atMost count: Int, seconds: Double = 120) async -> Bool {
        await ledger.wait(seconds: seconds) { $0.openConnections <= count }
    }

    /// Suspends until so many malformed requests have arrived.
    @discardableResult
    public func waitForMalformedRequests(_ count: Int, seconds: Double = 120) async -> Bool {
        await ledger.wait(seconds: seconds) { $0.malformed >= count }
    }
}
