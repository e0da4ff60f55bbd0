import AtomNetworkingTesting
import Foundation
import Testing

@testable import AtomNetworking

/// How a session handles servers, stores and providers that do odd things, and
/// the request that starts a refresh.
@Suite("A session and those around it", .limited)
struct SessionRobustnessTests {
    // MARK: The token endpoint

    @Test("A new refresh token beside an access token of another type is sent next", arguments: [true, false])
    func refreshTokenBesideAnotherType(inStore: Bool) async throws {
        let disk = RecordingTokenCredentialStore(.issued(0, life: 0))
        let session =
            inStore ? try SessionFixture(store: disk) : try SessionFixture(lifetime: 0)
        let first = session.call()
        await session.refresh().answer(
            #"{"access_token":"P1","token_type":"DPoP","expires_in":60,"refresh_token":"R1"}"#)
        guard case .authentication(.refreshFailed) = await first.error() else { throw Unexpected("not told") }
        #expect((inStore ? disk.stored : session.tokens.tokenCredential)?.refreshToken == "R1", "it is stored")
        _ = session.call()
        #expect(await session.refresh(1).form["refresh_token"] == "R1", "the one before is spent")
    }

    // MARK: The request that starts a refresh

    @Test("Neither the priority nor the task-local values of the caller that starts a refresh reach it")
    func detached() async throws {
        let store = ContextStore()
        let session = try SessionFixture(store: store)
        let endpoint = PathEndpoint()
        let atom = session.atom
        let task = Task(priority: .background) {
            await ContextStore.$name.withValue("caller") { _ = try? await atom.enqueue(endpoint).resume() }
        }
        let refresh = await session.refresh()
        #expect(store.seen.value.allSatisfy { $0.name == nil })
        #expect(store.seen.value.allSatisfy { $0.priority >= .userInitiated }, "\(store.seen.value)")
        #expect(!store.seen.value.isEmpty)
        refresh.grant(1)
        await session.transport.exchange(1).answer()
        await task.value
    }

    @Test("Of two services with one store, the one whose request starts the refresh decides", arguments: [true, false])
    func twoServices(providerFirst: Bool) async throws {
        let store = InMemoryTokenCredentialStore()
        let login = ScriptedLogin()
        var sessions: [SessionFixture] = []
        for isProvider in [providerFirst, !providerFirst] {
            sessions.append(try SessionFixture(store: store, provider: isProvider ? login : nil))
        }
        let withProvider = sessions[providerFirst ? 0 : 1]
        let withEndpoint = sessions[providerFirst ? 1 : 0]
        guard case .authentication(.missingCredential) = await withEndpoint.call().error() else {
            throw Unexpected("nothing to refresh with")
        }
        #expect(withEndpoint.transport.exchanges.isEmpty, "no empty refresh token is posted")
        let call = withProvider.call()
        await login.form(0).finish(.success(.issued(1)))
        await withProvider.transport.exchange(0).answer()
        #expect(await call.status() == 200)
    }

    // MARK: Loading the session

    @Test("loadSession finds a sign-in of another process, even after nobody was signed in")
    func loadedAgain() async throws {
        for grant in [GrantType.clientCredentials, .refreshToken] {
            let disk = RecordingTokenCredentialStore()
            let session = try SessionFixture(
                store: disk, provider: grant == .refreshToken ? ScriptedLogin() : nil, grant: grant)
            guard case .signedOut = try await session.atom.loadSession() else { throw Unexpected("somebody") }
            guard case .signedOut = try await session.atom.loadSession() else { throw Unexpected("somebody") }
            disk.stored = .issued(3)
            guard case .signedIn = try await session.atom.loadSession() else { throw Unexpected("nobody") }
        }
    }

    @Test("loadSession finds a sign-in of another process in the pause after a failure")
    func loadedInThePause() async throws {
        let disk = RecordingTokenCredentialStore()
        let login = ScriptedLogin()
        let session = try SessionFixture(store: disk, provider: login)
        let call = session.call()
        await login.form(0).finish(
            .failure(TokenCredentialProviderError.retryAfter(.seconds(60), CancellationError())))
        _ = await call.error()
        guard case .signedOut = try await session.atom.loadSession() else { throw Unexpected("somebody") }
        disk.stored = .issued(3)
        guard case .signedIn = try await session.atom.loadSession() else { throw Unexpected("nobody") }
    }

    // MARK: Calls that never return

    @Test("A provider's call that never returns doesn't prevent another sign-in")
    func providerThatNeverReturns() async throws {
        let login = StubbornLogin()
        let session = try SessionFixture(store: InMemoryTokenCredentialStore(), provider: login)
        let first = session.call("/first", timeout: ServiceTimeout(request: 600, resource: 600))
        #expect(await eventually { login.calls.value == 1 })
        try await session.atom.signOut()
        guard case .authentication(.signedOut) = await first.error() else { throw Unexpected("not told") }
        let second = session.call("/second", timeout: ServiceTimeout(request: 600, resource: 600))
        // Its wait for the first call has begun when the alarm that ends it is set.
        let patience = SessionActor.patience
        let start = session.time.now
        #expect(await eventually { session.time.nextAlarm.map { $0 <= start.advanced(by: patience) } ?? false })
        #expect(login.calls.value == 1, "no second login screen while the first may still be up")
        session.time.advance(by: patience)
        #expect(await eventually { login.calls.value == 2 })
        second.cancel()
        login.end.raise()
    }

    @Test("A store whose load signs out gets an error, instead of waiting for itself for ever")
    func storeThatCallsBack() async throws {
        let store = CallingStore()
        let session = try SessionFixture(store: store)
        let atom = session.atom
        store.action.set { try await atom.signOut() }
        let call = session.call()
        guard case .authentication(.missingCredential) = await call.error() else { throw Unexpected("not told") }
        guard case .authentication(.credentialNotStored(let cause, _)) = store.thrown.value as? AtomError,
            case TokenStoreError.refused(let reason) = cause
        else { throw Unexpected("\(String(describing: store.thrown.value))") }
        #expect(reason.contains("for ever"))
        try await atom.signIn(with: .issued(1))
        #expect(store.saved.value == .issued(1), "its operations go on")
    }

    // MARK: Events

    @Test("Events that are never sent hold up no later ones")
    func missingEvents() async {
        let hub = SessionEventHub()
        var events = hub.events().makeAsyncIterator()
        var turns: EventTurns? = EventTurns(0..<3, of: hub)
        hub.send(.signedIn, number: 1)
        hub.send(.signedOut, number: 3)
        #expect(turns != nil)
        turns = nil
        guard case .signedIn = await events.next(), case .signedOut = await events.next() else {
            Issue.record("held up, or out of order")
            return
        }
    }

    @Test("Events arrive in the order of their numbers, whichever thread is first")
    func numberedEvents() async {
        let hub = SessionEventHub()
        var events = hub.events().makeAsyncIterator()
        hub.send(.refreshed(expiresAt: nil), number: 1)
        hub.send(.signedOut, number: 2)
        hub.send(.signedIn, number: 0)
        var kinds: [String] = []
        for _ in 0..<3 {
            switch await events.next() {
            case .signedIn: kinds.append("in")
            case .refreshed: kinds.append("refreshed")
            case .signedOut: kinds.append("out")
            default: kinds.append("?")
            }
        }
        #expect(kinds == ["in", "refreshed", "out"])
    }
}

/// A store that records the priority and task-local values of its callers.
private final class ContextStore: TokenCredentialStore {
    @TaskLocal static var name: String?
    let seen = Locked<[(name: String?, priority: TaskPriority)]>([])

    private func note() { seen.set(seen.value + [(Self.name, Task.currentPriority)]) }

    func load() async throws -> TokenCredential? {
        note()
        return .issued(0, life: 0)
    }

    func save(_ credential: TokenCredential?) async throws { note() }
}

/// A store that calls a closure in its `load`, once.
private final class CallingStore: TokenCredentialStore {
    let action = Locked<(@Sendable () async throws -> Void)?>(nil)
    let thrown = Locked<(any Error)?>(nil)
    let saved = Locked<TokenCredential?>(nil)

    func load() async throws -> TokenCredential? {
        guard let call = action.value else { return nil }
        action.set(nil)
        do { try await call() } catch { thrown.set(error) }
        return nil
    }

    func save(_ credential: TokenCredential?) async throws { saved.set(credential) }
}

/// A login screen that ignores its cancellation.
private final class StubbornLogin: TokenCredentialProvider {
    let calls = Locked(0)
    let end = Signal()

    func credential(replacing rejected: TokenCredential?) async throws -> TokenCredential {
        calls.with { $0 += 1 }
        await end.wait()
        throw CancellationError()
    }
}
