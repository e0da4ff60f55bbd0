import FlyingFox
import FlyingSocks
import Foundation

/// An airline's API and its OAuth 2.0 authorization server, on 127.0.0.1.
///
/// It is a difficult server for a client: refresh tokens rotate, a reused token
/// ends the session, and switches let tokens expire, responses get lost and the
/// token endpoint fail. ``counters`` and ``events(after:)`` contain what the
/// server saw and counted.
///
/// ```swift
/// let server = try await AirlineServer.start()
/// print(server.baseURL)  // http://127.0.0.1:40123
/// server.expireAccessTokens()
/// await server.stop()
/// ```
public final class AirlineServer: Sendable {
    /// The port that the server listens on.
    public let port: UInt16

    private let configuration: ServerConfiguration
    private let clock: ServerClock
    private let state: Locked<ServerState>
    private let listener: HTTPServer
    private let running: Task<Void, any Error>

    private init(
        port: UInt16,
        configuration: ServerConfiguration,
        clock: ServerClock,
        state: Locked<ServerState>,
        listener: HTTPServer,
        running: Task<Void, any Error>
    ) {
        self.port = port
        self.configuration = configuration
        self.clock = clock
        self.state = state
        self.listener = listener
        self.running = running
    }

    deinit {
        running.cancel()
    }

    /// Starts a server and returns when it accepts connections.
    ///
    /// Ignores SIGPIPE in this process: FlyingFox writes to connections that
    /// clients may have closed.
    ///
    /// - Throws: The system's error if the port is not available.
    public static func start(
        _ configuration: ServerConfiguration = ServerConfiguration(),
        clock: ServerClock = .monotonic()
    ) async throws -> AirlineServer {
        signal(SIGPIPE, SIG_IGN)
        let state = Locked(ServerState(configuration: configuration))
        let handler = RequestHandler(
            router: router(configuration: configuration, state: state, clock: clock),
            state: state,
            clock: clock,
            bodyLimit: configuration.bodyLimit
        )
        let listener = HTTPServer(
            config: HTTPServer.Configuration(
                address: try sockaddr_in.inet(ip4: "127.0.0.1", port: configuration.port),
                timeout: 3600,
                sharedRequestBufferSize: 65_536,
                pool: NoDelaySocketPool(base: HTTPServer.defaultPool()),
                logger: DisabledLogger.disabled
            ),
            handler: handler
        )
        let running = Task { try await listener.run() }
        do {
            try await waitUntilListening(listener, running)
            let address = await listener.listeningAddress
            guard case .ip4(_, let port)? = address else { throw SocketError.disconnected }
            return AirlineServer(
                port: port,
                configuration: configuration,
                clock: clock,
                state: state,
                listener: listener,
                running: running
            )
        } catch {
            running.cancel()
            throw error
        }
    }

    /// Waits until the listener is ready or has failed.
    private static func waitUntilListening(_ listener: HTTPServer, _ running: Task<Void, any Error>) async throws {
        let (outcomes, outcome) = AsyncThrowingStream<Void, any Error>.makeStream()
        let failure = Task {
            outcome.finish(throwing: await running.result.failure ?? CancellationError())
        }
        let success = Task {
            try await listener.waitUntilListening()
            outcome.yield()
        }
        defer {
            failure.cancel()
            success.cancel()
        }
        for try await _ in outcomes { return }
    }

    private static func router(
        configuration: ServerConfiguration,
        state: Locked<ServerState>,
        clock: ServerClock
    ) -> Router {
        var router = Router()
        FlightEndpoints(state: state).install(on: &router)
        MemberEndpoints(users: configuration.users).install(on: &router)
        AccountEndpoints(state: state, clock: clock).install(on: &router)
        TransferEndpoints(state: state).install(on: &router)
        GateEndpoints(state: state, clock: clock).install(on: &router)
        TokenEndpoints(configuration: configuration, state: state, clock: clock).install(on: &router)
        DiagnosticEndpoints().install(on: &router)
        AdminEndpoints(configuration: configuration, state: state, clock: clock).install(on: &router)
        return router
    }

    /// Closes the port and all connections, and waits until that is done.
    public func stop() async {
        await listener.stop(timeout: 0)
        _ = await running.result
    }

    /// Waits until the server stops, by ``stop()`` or after a failure.
    ///
    /// If the waiting task is cancelled, the server stops.
    public func waitUntilStopped() async {
        await withTaskCancellationHandler {
            _ = await running.result
        } onCancel: {
            running.cancel()
        }
    }
}

// MARK: - Its address

extension AirlineServer {
    /// The address that the server listens on.
    public var host: String { "127.0.0.1" }

    /// `http://127.0.0.1:` and the port.
    public var baseURL: String { "http://\(host):\(port)" }

    /// The path of the token endpoint.
    public static let tokenPath = "/oauth/token"

    /// The path of the revocation endpoint (RFC 7009).
    public static let revocationPath = "/oauth/revoke"
}

// MARK: - Observation

extension AirlineServer {
    /// The server's counters.
    public var counters: Counters { state.withLock(\.counters) }

    /// The events after a number, oldest first; by default all stored events.
    public func events(after number: Int = 0) -> [ServerEvent] {
        state.withLock { $0.log.events(after: number) }
    }

    /// Sets all counters to zero and removes the events; tokens, bookings and
    /// switches stay.
    public func resetCounters() {
        state.withLock { $0.resetCounters() }
    }

    /// Restores the state at the start: no tokens, no bookings, no events, the
    /// configured policy, no faults.
    public func reset() {
        state.withLock { $0.reset(to: configuration) }
    }
}

// MARK: - Switches

extension AirlineServer {
    /// The policy for tokens that are issued from now on.
    public var policy: TokenPolicy { state.withLock(\.policy) }

    /// Changes the policy.
    public func updatePolicy(_ change: (inout TokenPolicy) -> Void) {
        state.withLock { change(&$0.policy) }
    }

    /// The remaining faults of the token endpoint; each call counts them down.
    public var faults: TokenEndpointFaults { state.withLock(\.faults) }

    /// Changes the faults of the token endpoint.
    public func updateFaults(_ change: (inout TokenEndpointFaults) -> Void) {
        state.withLock { change(&$0.faults) }
    }

    /// The remaining faults of uploads and downloads.
    public var transferFaults: TransferFaults { state.withLock(\.transferFaults) }

    /// Changes the faults of uploads and downloads.
    public func updateTransferFaults(_ change: (inout TransferFaults) -> Void) {
        state.withLock { change(&$0.transferFaults) }
    }

    /// Ends all streams of announcements that are open, each before its next
    /// announcement.
    public func endStreams() {
        state.withLock { $0.streamGeneration += 1 }
    }

    /// Lets all access tokens expire now, without telling the clients; returns
    /// their number.
    @discardableResult
    public func expireAccessTokens() -> Int {
        state.withLock { $0.expireAccessTokens(now: clock.now()) }
    }

    /// Revokes all access tokens now; refresh tokens stay valid.
    @discardableResult
    public func revokeAccessTokens() -> Int {
        state.withLock { $0.revokeAccessTokens(now: clock.now()) }
    }

    /// Ends all sessions: revokes every family with its access and refresh tokens.
    @discardableResult
    public func revokeFamilies() -> Int {
        state.withLock { $0.revokeFamilies(now: clock.now()) }
    }
}

extension Result {
    fileprivate var failure: Failure? {
        if case .failure(let error) = self { error } else { nil }
    }
}
