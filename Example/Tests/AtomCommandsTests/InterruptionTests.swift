import AirlineServer
import AtomNetworking
import AtomNetworkingTesting
import Foundation
import Testing

@testable import AtomCommands

/// The tool is stopped while it renews a session at a server that accepts each
/// refresh token once, and whoever sends one twice is signed out.
@Suite(.serialized, .limited) struct InterruptionTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    @Test(arguments: [SIGINT, SIGTERM], StrictServer.Phase.allCases)
    func whoStopsTheToolKeepsTheSession(signal: Int32, phase: StrictServer.Phase) async throws {
        let run = try await stop(by: signal, in: phase)
        #expect(run.tool.status == 128 + signal)
        #expect(run.tool.output.isEmpty)
        #expect(!run.tool.notes.contains("secret"))
        #expect(run.hasSurvived, "\(run.next)")
        #expect(run.wasStored || !phase.isResponseDue, "the next command refreshes once more")
        #expect(run.reuses == 0)
    }

    /// Only a kill between the arrival of the token request and the write of its response loses the session.
    @Test(arguments: StrictServer.Phase.allCases)
    func whoKillsTheToolLosesOnlyAResponse(phase: StrictServer.Phase) async throws {
        let run = try await stop(by: SIGKILL, in: phase)
        #expect(run.tool.status == SIGKILL)
        #expect(run.hasSurvived == !phase.isResponseDue, "\(run.next)")
        #expect(run.reuses == (phase.isResponseDue ? 1 : 0))
        if phase.isResponseDue { run.expectLoss() }
    }

    /// The response arrives and is written, and the signal comes somewhere in between.
    @Test(arguments: [SIGINT, SIGTERM, SIGKILL])
    func whateverTheMomentOfTheWrite(signal: Int32) async throws {
        var survivals = 0
        let rounds = 16
        for round in 0..<rounds {
            let run = try await stop(by: signal, in: .beforeTheLastByte, after: .microseconds(round * 800))
            if run.hasSurvived { survivals += 1 }
            #expect(run.hasSurvived == run.wasStored)
            #expect(run.reuses == (run.wasStored ? 0 : 1))
            if !run.hasSurvived { run.expectLoss() }
        }
        #expect(signal == SIGKILL || survivals == rounds)
        print("Signal \(signal) while the response was written: \(survivals) of \(rounds) sessions survived.")
    }

    @Test(arguments: [SIGINT, SIGTERM])
    func theFirstSignalSaysWhatIsWaitedForAndTheSecondEndsIt(signal: Int32) async throws {
        let server = try StrictServer(holding: .beforeTheResponse)
        defer { server.stop() }
        let file = try await session(at: server)
        let tool = try await Tool.interrupt(
            command(file), by: signal, when: { server.isHolding }, again: { $0.hasSuffix("at once.\n") })
        server.release()
        #expect(tool.status == 128 + signal)
        #expect(tool.output.isEmpty)
        #expect(tool.notes.hasPrefix("Waiting up to 8 seconds until a refresh of the session is stored;"))
        #expect(tool.notes.hasSuffix("a second Ctrl-C ends the command at once.\n"), "nothing follows")
        await server.isIdle()
    }

    /// The file can't be replaced, and the command doesn't wait for that to change.
    @Test func whatIsNotStoredIsSaidAtTheEnd() async throws {
        let server = try StrictServer(holding: .beforeTheLastByte)
        defer { server.stop() }
        let file = try await session(at: server)
        // As a process: it ends, and tries no write again. The signal changes nothing.
        let tool = try await Tool.interrupt(
            command(file), by: SIGCONT, when: { server.isHolding },
            then: {
                try? FileManager.default.removeItem(at: file.url)
                try? FileManager.default.createDirectory(at: file.url, withIntermediateDirectories: false)
                server.release()
            })
        #expect(tool.output.hasPrefix("ada"))
        #expect(tool.notes.hasPrefix("\(file.url.path): "))
        #expect(tool.status == 74)
    }

    private struct Stopped {
        let tool: Tool.Run
        /// Whether the new tokens are in the file.
        let wasStored: Bool
        /// What the next command says.
        let next: Run
        /// How often a refresh token was sent that had been used.
        let reuses: Int

        /// Whether the next command is signed in.
        var hasSurvived: Bool { next.status == .success }

        func expectLoss() {
            #expect(next.status == .signInNeeded)
            #expect(next.notes.hasPrefix("The session was lost: a process was stopped"))
        }
    }

    /// Stops the tool while the server holds its answer, or a time after the server has gone on.
    private func stop(
        by signal: Int32, in phase: StrictServer.Phase, after delay: Duration? = nil
    ) async throws -> Stopped {
        let server = try StrictServer(holding: phase)
        defer { server.stop() }
        let file = try await session(at: server)
        var other: Task<Void, any Error>?
        if phase == .waitingForTheStore {
            let (holds, hold) = AsyncStream.makeStream(of: Void.self)
            other = Task {
                _ = try await file.store().exchange { stored in
                    hold.finish()
                    await server.isReleased()
                    return stored
                }
            }
            for await _ in holds {}
        }
        let tool = try await Tool.interrupt(command(file), by: signal) {
            guard server.isHolding else { return false }
            guard let delay else { return true }
            server.release()
            // Not a sleep, which takes longer than the write.
            let end = ContinuousClock.now + delay
            while ContinuousClock.now < end {}
            return true
        } then: {
            server.release()
        }
        try await other?.value
        await server.isIdle()
        let stored = try await file.store().load()
        return Stopped(
            tool: tool, wasStored: stored?.refreshToken != StrictServer.credential(0).refreshToken,
            next: try await Run(command(file)), reuses: server.reuses)
    }

    /// A session with tokens that the server doesn't accept any more.
    private func session(at server: StrictServer) async throws -> SessionFile {
        let file = SessionFile(url: folder.url.appendingPathComponent("\(UUID())/session.json"))
        try await file.store().save(StrictServer.credential(0))
        try file.save(SessionFile.Profile(server: server.url, clientID: "atom-app"))
        return file
    }

    private func command(_ file: SessionFile) -> [String] { ["whoami", "--session-file", file.url.path] }
}

/// An authorization server and a resource; it stops in one phase of the first refresh.
final class StrictServer: Sendable {
    enum Phase: CaseIterable {
        /// The request is sent, and its 401 isn't.
        case beforeThe401
        /// Another process has the lock of the session's file.
        case waitingForTheStore
        /// The token request has arrived.
        case beforeTheExchange
        /// The refresh token is used, and nothing of the response is sent.
        case beforeTheResponse
        case inTheHead
        case inTheBody
        case beforeTheLastByte
        /// The new tokens are stored, and the request is sent again.
        case afterTheWrite

        /// Whether the server has the used token, and the tool not yet its successor.
        var isResponseDue: Bool { ![.beforeThe401, .waitingForTheStore, .afterTheWrite].contains(self) }
    }

    private struct State {
        /// The number of the tokens that are good; the access token of the first ones has expired.
        var current = 0
        var isRevoked = false
        var reuses = 0
        var isHolding = false
    }

    private let server: LoopbackServer
    private let gate = LoopbackServer.Gate()
    private let state = Locked(State())
    private let phase: Phase

    init(holding phase: Phase) throws {
        self.phase = phase
        let (gate, state) = (gate, state)
        server = try LoopbackServer(routes: [
            "GET /account": { request in
                let isGood = state.withLock { state in
                    let token = "Bearer \(Self.credential(state.current).accessToken)"
                    return !state.isRevoked && state.current > 0 && request["Authorization"] == token
                }
                guard phase == (isGood ? .afterTheWrite : .beforeThe401) else { return Self.account(isGood) }
                state.withLock { $0.isHolding = true }
                return Self.account(isGood).after(gate)
            },
            "POST /oauth/token": { request in
                if phase == .beforeTheExchange {
                    state.withLock { $0.isHolding = true }
                    gate.wait()
                }
                let number = state.withLock { state -> Int? in
                    guard request.form("refresh_token") == Self.credential(state.current).refreshToken else {
                        state.reuses += 1
                        state.isRevoked = true
                        return nil
                    }
                    state.current += 1
                    return state.current
                }
                guard let number else { return .json(#"{"error":"invalid_grant"}"#, status: 400) }
                return Self.grant(number, holding: phase, at: gate, state)
            },
        ])
    }

    var url: String { "http://\(server.host):\(server.port)" }

    /// Whether somebody waits in the phase.
    var isHolding: Bool {
        guard phase != .waitingForTheStore else { return server.requestCount > 0 && server.requestsInProgress == 0 }
        return state.withLock(\.isHolding)
    }

    var reuses: Int { state.withLock(\.reuses) }

    func release() { gate.open() }

    func isReleased() async {
        while !gate.isOpen { try? await Task.sleep(for: .milliseconds(1)) }
    }

    /// Waits until every request that has arrived is processed.
    func isIdle() async {
        while server.requestsInProgress > 0 { try? await Task.sleep(for: .milliseconds(1)) }
    }

    func stop() { server.stop() }

    static func credential(_ number: Int) -> TokenCredential {
        TokenCredential(
            accessToken: "secret-a\(number)", expiresAt: .distantFuture, refreshToken: "secret-r\(number)")
    }

    private static func account(_ isGood: Bool) -> LoopbackServer.Response {
        isGood ? .json(#"{"name":"ada","tier":"gold","miles":1}"#) : .challenge("Bearer")
    }

    private static func grant(
        _ number: Int, holding phase: Phase, at gate: LoopbackServer.Gate, _ state: Locked<State>
    ) -> LoopbackServer.Response {
        let tokens = credential(number)
        let body = #"{"access_token":"\#(tokens.accessToken)","refresh_token":"\#(tokens.refreshToken)"}"#
        let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n\r\n"
        let bytes = Data((head + body).utf8)
        let place: Int? =
            switch phase {
            case .beforeTheResponse: 0
            case .inTheHead: 20
            case .inTheBody: head.utf8.count + 10
            case .beforeTheLastByte: bytes.count - 1
            case .beforeThe401, .waitingForTheStore, .beforeTheExchange, .afterTheWrite: nil
            }
        guard let place else { return .script([.write(bytes)]) }
        state.withLock { $0.isHolding = true }
        return .script([.write(bytes.prefix(place)), .wait(gate), .write(bytes.dropFirst(place))])
    }
}
