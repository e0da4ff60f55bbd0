import AtomNetworkingTesting
import Foundation
import Testing

@testable import AtomNetworking

@Suite("Identical requests share within one person's session", .limited)
struct SharingSessionTests {
    /// Whose credential is changed, and by whom.
    enum Change: String, CaseIterable, Sendable {
        case signIn, signOutAndIn, variable, emptiedVariable
    }

    @Test(
        "After a change of persons nobody shares with a request from before", arguments: Change.allCases,
        [true, false])
    func changes(change: Change, signed: Bool) async throws {
        let session = try SessionFixture()
        let endpoint = SharedEndpoint(requiresAuthorization: signed)
        let before = [session.atom.call(endpoint), session.atom.call(endpoint)]
        #expect(session.sent.count == 1)
        switch change {
        case .signIn: try await session.atom.signIn(with: .issued(5))
        case .signOutAndIn:
            try await session.atom.signOut()
            try await session.atom.signIn(with: .issued(5))
        case .variable: session.tokens.put(.issued(5))
        case .emptiedVariable: session.tokens.put(.empty)
        }
        let after = [session.atom.call(endpoint), session.atom.call(endpoint)]
        if change == .emptiedVariable, signed {
            #expect(session.sent.count == 1)
            for call in after { #expect(await call.error()?.delivery == .notSent) }
        } else {
            try #require(session.sent.count == 2)
            #expect(session.sent[1].token == (signed ? "A5" : nil))
            session.sent[1].answer("new")
            for call in after { #expect(try await call.outcome().get().body == "new") }
        }
        #expect(before.allSatisfy { $0.count == 0 })
        session.sent[0].answer("old")
        for call in before { #expect(try await call.outcome().get().body == "old") }
    }

    @Test("The first tokens in an empty variable are a sign-in too")
    func firstTokens() async throws {
        let session = try SessionFixture(tokens: RecordingTokens(.empty))
        let endpoint = SharedEndpoint(requiresAuthorization: false)
        let before = session.atom.call(endpoint)
        session.tokens.put(.issued(5))
        let after = session.atom.call(endpoint)
        #expect(session.sent.count == 2)
        for exchange in session.sent { exchange.answer() }
        #expect(await before.status() == 200)
        #expect(await after.status() == 200)
    }

    @Test("A person who comes back does not share with the requests from before")
    func back() async throws {
        let session = try SessionFixture()
        let first = session.tokens.tokenCredential
        var calls: [Call] = []
        for credential in [first, .issued(5), first] {
            session.tokens.put(credential)
            calls.append(session.atom.call())
        }
        #expect(session.sent.map(\.token) == ["A0", "A5", "A0"])
        for exchange in session.sent { exchange.answer() }
        for call in calls { #expect(await call.status() == 200) }
    }

    @Test("Requests that wait for a refresh, and those after it, share one exchange")
    func refresh() async throws {
        let session = try SessionFixture(lifetime: 0)
        let waiting = (0..<3).map { _ in session.atom.call() }
        #expect(session.sent.isEmpty)
        await session.refresh().grant(1)
        _ = await session.transport.exchange(1)
        let after = session.atom.call()
        #expect(session.sent.map(\.token) == ["A1"])
        session.sent[0].answer()
        for call in waiting + [after] { #expect(await call.status() == 200) }
        #expect(session.refreshes.count == 1)
    }

    @Test("A 401 refreshes and sends again once, for all; the second one is everybody's answer", arguments: [200, 401])
    func rejected(status: Int) async throws {
        let session = try SessionFixture()
        let calls = (0..<3).map { _ in session.atom.call() }
        session.sent[0].answer(status: 401)
        let late = session.atom.call()
        await session.refresh().grant(1)
        _ = await session.transport.exchange(2)
        let later = session.atom.call()
        try #require(session.sent.map(\.token) == ["A0", "A1"])
        session.sent[1].answer(status: status)
        for call in calls + [late, later] {
            switch await call.outcome() {
            case .success(let response): #expect(response.statusCode == status)
            case .failure(.response(let response)): #expect(response.statusCode == status && status == 401)
            case .failure(let error): throw error
            }
        }
        #expect(session.refreshes.count == 1 && session.sent.count == 2)
    }

    @Test("A sign-out tells all who wait for the old session, and a new request is refused anew")
    func signOut() async throws {
        let session = try SessionFixture(lifetime: 0)
        let calls = (0..<3).map { _ in session.atom.call() }
        let refresh = await session.refresh()
        try await session.atom.signOut()
        for call in calls {
            guard case .authentication(.signedOut(.notSent))? = await call.error() else {
                throw Unexpected("not signed out")
            }
        }
        let next = session.atom.call()
        guard case .authentication(.missingCredential)? = await next.error() else {
            throw Unexpected("\(String(describing: await next.error()))")
        }
        refresh.grant(1)
        #expect(session.sent.isEmpty && session.atom.sharing.counts == (0, 0))
    }

    @Test("Requests before and after the store has been read for the first time share")
    func firstLoad() async throws {
        let session = try SessionFixture(store: RecordingTokenCredentialStore(.issued(0)))
        let first = session.atom.call()
        _ = await session.transport.exchange(0)
        let second = session.atom.call()
        #expect(session.sent.count == 1)
        session.sent[0].answer()
        #expect(await first.status() == 200)
        #expect(await second.status() == 200)
    }

    @Test("A credential of another process's, once it was seen, ends sharing with what was before")
    func anotherProcess() async throws {
        let disk = RecordingTokenCredentialStore(.issued(0))
        let session = try SessionFixture(store: disk)
        let slow = session.atom.call(SharedEndpoint(pathText: "/slow"))
        _ = await session.transport.exchange(0)
        disk.stored = .issued(5)
        let other = session.atom.call(SharedEndpoint(pathText: "/other"))
        await session.transport.exchange(1).answer(status: 401)
        let retried = await session.transport.exchange(2)
        #expect(retried.token == "A5")
        retried.answer()
        #expect(await other.status() == 200)
        let new = session.atom.call(SharedEndpoint(pathText: "/slow"))
        await session.transport.exchange(3).answer("new")
        #expect(try await new.outcome().get().body == "new")
        session.sent[0].answer("old")
        #expect(try await slow.outcome().get().body == "old")
    }

    @Test("Who has joined before a sign-in does not get the next person's response")
    func joinedBeforeASignIn() async throws {
        let interruption = Interruption()
        let session = try SessionFixture(
            store: InMemoryTokenCredentialStore(.issued(1)), change: { $0.observers = [interruption] })
        try await session.atom.loadSession()
        let joined = Call()
        // Between the first caller's question whose session it is and its admission.
        interruption.action.with { action in
            action = {
                joined.keep(session.atom.enqueue(SharedEndpoint()).resume { joined.heard($0) })
                let isSignedIn = DispatchSemaphore(value: 0)
                Task.detached {
                    try? await session.atom.signIn(with: .issued(5))
                    isSignedIn.signal()
                }
                isSignedIn.wait()
            }
        }
        // A thread of its own, because it waits.
        let first = await withCheckedContinuation { continuation in
            Thread.detachNewThread { continuation.resume(returning: session.atom.call(SharedEndpoint())) }
        }
        for exchange in session.transport.exchanges { exchange.answer("of \(exchange.token ?? "")") }
        for call in [first, joined] {
            guard case .authentication(.signedOut)? = await call.error() else { throw Unexpected("not signed out") }
        }
        #expect(session.transport.exchanges.isEmpty)
    }

    @Test("A request of the provider itself does not wait for a request that waits for the provider")
    func provider() async throws {
        let atom = Locked<Atom?>(nil)
        let login = AskingLogin(atom: atom)
        let session = try SessionFixture(store: InMemoryTokenCredentialStore(), provider: login)
        atom.with { $0 = session.atom }
        let error = try #require(await session.atom.call().error())
        guard case .authentication(.credentialNotProvided(let cause, _, _)) = error,
            case .authentication(.missingCredential(.notSent))? = cause as? AtomError
        else { throw Unexpected("\(error)") }
        #expect(session.transport.exchanges.isEmpty && session.atom.sharing.counts == (0, 0))
    }
}

/// A provider that sends the same request as the one that waits for it.
private struct AskingLogin: TokenCredentialProvider {
    let atom: Locked<Atom?>

    func credential(replacing rejected: TokenCredential?) async throws -> TokenCredential {
        try await atom.value?.enqueue(SharedEndpoint()).resume()
        return .issued(1)
    }
}

/// Does something when the next request is described, before the session is asked.
private final class Interruption: RequestObserver {
    let action = Locked<(@Sendable () -> Void)?>(nil)

    func observe(_ event: RequestEvent) {
        guard case .described = event.kind else { return }
        action.with { $0.take() }?()
    }
}
