import AtomNetworkingTesting
import Foundation
import Testing

@testable import AtomNetworking

/// Signing in and out: results of an older session are dropped.
@Suite(.limited) struct SigningTests {
    @Test func signingInStoresTheCredentialAndSignsWithIt() async throws {
        let disk = RecordingTokenCredentialStore()
        let session = try SessionFixture(store: disk)
        try await session.atom.signIn(with: .issued(1))
        #expect(disk.writes == [.issued(1)])
        guard case .signedIn = session.atom.sessionState else { throw Unexpected("\(session.atom.sessionState)") }
        let call = session.call()
        #expect(session.sent[0].token == "A1")
        session.sent[0].answer()
        #expect(await call.status() == 200)
    }

    @Test func signingOutTellsWaitersAndEmptiesTheStoreWhateverTheRefreshStillBrings() async throws {
        let disk = RecordingTokenCredentialStore(.issued(0, life: 0))
        let session = try SessionFixture(store: disk)
        let call = session.call()
        let refresh = await session.refresh()
        try await session.atom.signOut()
        guard case .authentication(.signedOut(.notSent)) = await call.error() else {
            throw Unexpected("\(String(describing: await call.error()))")
        }
        #expect(!refresh.isCancelled, "what comes home is to be known")
        #expect(disk.writes == [nil], "nobody waits for it")
        refresh.grant(1)
        let actor = try #require(session.atom.manager.session)
        #expect(await eventually { !actor.gate.with { $0.isRefreshOnItsWay } })
        #expect(disk.writes == [nil])
        #expect(disk.stored == nil)
        guard case .signedOut = session.atom.sessionState else { throw Unexpected("not signed out") }
        guard case .authentication(.missingCredential) = await session.call().error() else {
            throw Unexpected("not missing")
        }
    }

    @Test func aRefreshThatEndsAfterSigningInIsNotStoredForTheNextUser() async throws {
        let disk = RecordingTokenCredentialStore(.issued(0, life: 0))
        disk.holdWrites()
        let session = try SessionFixture(store: disk)
        let call = session.call()
        await session.refresh().grant(1)
        let atom = session.atom
        let signing = Task { try await atom.signIn(with: .issued(5)) }
        guard case .authentication(.signedOut) = await call.error() else { throw Unexpected("not told") }
        disk.releaseWrites()
        try await signing.value
        #expect(disk.stored == .issued(5))
        let next = session.call()
        let sent = await session.transport.exchange(1)
        #expect(sent.token == "A5")
        sent.answer()
        #expect(await next.status() == 200)
    }

    @Test func signingInWithWhatIsBeingRefreshedDoesNotBringTheSpentTokenBack() async throws {
        let disk = RecordingTokenCredentialStore(.issued(0, life: 0))
        let session = try SessionFixture(store: disk)
        let call = session.call()
        let refresh = await session.refresh()
        let atom = session.atom
        let signing = Task { try await atom.signIn(with: .issued(0, life: 0)) }
        guard case .authentication(.signedOut) = await call.error() else { throw Unexpected("not told") }
        #expect(!refresh.isCancelled)
        refresh.grant(1)
        try await signing.value
        #expect(disk.stored?.refreshToken == "R1")
        #expect(!disk.writes.contains(.issued(0, life: 0)))
        let next = session.call()
        let sent = await session.transport.exchange(1)
        #expect(sent.token == "A1")
        sent.answer()
        #expect(await next.status() == 200)
    }

    @Test func aLoadThatEndsAfterSigningOutIsDropped() async throws {
        let store = GatedStore(.issued(0))
        let session = try SessionFixture(store: store)
        let call = session.call()
        await store.isReading.wait()
        let atom = session.atom
        let signing = Task { try await atom.signOut() }
        guard case .authentication(.signedOut) = await call.error() else { throw Unexpected("not told") }
        store.mayGoOn.raise()
        try await signing.value
        guard case .authentication(.missingCredential) = await session.call().error() else {
            throw Unexpected("the old session is back")
        }
        #expect(session.sent.isEmpty)
    }

    @Test func aFailedSignOutIsToldAndTheOldTokensAreNotReadAgain() async throws {
        let disk = RecordingTokenCredentialStore(.issued(0))
        let session = try SessionFixture(store: disk)
        disk.saveError = DiskFailure()
        do {
            try await session.atom.signOut()
            Issue.record("not told")
        } catch {
            guard case .authentication(.credentialNotStored) = error else { throw Unexpected("\(error)") }
        }
        guard case .authentication(.missingCredential) = await session.call().error() else {
            throw Unexpected("the old session is back")
        }
        disk.saveError = nil
        var events = session.atom.events.makeAsyncIterator()
        session.time.advance(by: .seconds(1))
        guard case .credentialStored = await events.next() else { throw Unexpected("not told") }
        #expect(disk.stored == nil)
    }

    @Test func aFailedSignInIsToldAndTheSessionGoesOnInMemory() async throws {
        let disk = RecordingTokenCredentialStore(.issued(0))
        disk.saveError = DiskFailure()
        let session = try SessionFixture(store: disk)
        await #expect(throws: AtomError.self) { try await session.atom.signIn(with: .issued(2)) }
        let call = session.call()
        #expect(session.sent[0].token == "A2")
        session.sent[0].answer()
        #expect(await call.status() == 200)
    }

    @Test func withAVariableOfTheAppsItsSetterIsCalledOnce() async throws {
        let session = try SessionFixture(lifetime: 0)
        let call = session.call()
        let refresh = await session.refresh()
        try await session.atom.signIn(with: .issued(5))
        guard case .authentication(.signedOut) = await call.error() else { throw Unexpected("not told") }
        refresh.grant(1)
        #expect(session.tokens.writes == [.issued(5)])
        try await session.atom.signOut()
        #expect(session.tokens.writes == [.issued(5), .empty])
        guard case .authentication(.missingCredential) = await session.call().error() else {
            throw Unexpected("not missing")
        }
    }

    @Test func aRequestThatStillReadsTheOldVariableDoesNotBringItBack() async throws {
        let session = try SessionFixture()
        let first = session.call()
        session.sent[0].answer()
        _ = await first.status()
        let old = session.tokens.tokenCredential
        // The variable returns the old credential for a while.
        session.tokens.onWrite { _ in session.tokens.put(old) }
        try await session.atom.signOut()
        guard case .authentication(.missingCredential) = await session.call().error() else {
            throw Unexpected("the old session is back")
        }
    }

    @Test func whatTheAppPutsBackAfterSigningOutIsGoneByAgain() async throws {
        let session = try SessionFixture()
        let old = session.tokens.tokenCredential
        try await session.atom.signOut()
        #expect(session.tokens.tokenCredential == .empty)
        session.tokens.put(old)
        let call = session.call()
        #expect(session.sent.map(\.token) == ["A0"])
        session.sent[0].answer()
        #expect(await call.status() == 200)
    }

    @Test func aServiceWithoutBearerTokensHasNoSession() async throws {
        let atom = Atom()
        await #expect(throws: AtomError.self) { try await atom.signIn(with: .issued(1)) }
        await #expect(throws: AtomError.self) { try await atom.signOut() }
        guard case .signedOut = atom.sessionState else { throw Unexpected("a session") }
        for await _ in atom.events { Issue.record("an event") }
        let session = try SessionFixture(store: InMemoryTokenCredentialStore())
        await #expect(throws: AtomError.self) { try await session.atom.signIn(with: .empty) }
    }

    @Test func theStateIsKnownWithoutARequest() async throws {
        let session = try SessionFixture(store: InMemoryTokenCredentialStore(.issued(0)))
        guard case .unknown = session.atom.sessionState else { throw Unexpected("known") }
        guard case .signedIn = try await session.atom.loadSession() else { throw Unexpected("not signed in") }
        guard case .signedIn = session.atom.sessionState else { throw Unexpected("forgotten") }
        let empty = try SessionFixture(store: InMemoryTokenCredentialStore())
        guard case .signedOut = try await empty.atom.loadSession() else { throw Unexpected("signed in") }
        let writable = try SessionFixture()
        guard case .signedIn = writable.atom.sessionState else { throw Unexpected("not signed in") }
        #expect(session.transport.exchanges.isEmpty)
    }

    @Test func signingOutRevokesWhatAnotherProcessHasStoredSince() async throws {
        let revoke = try AuthorizationEndpoint(host: "auth.example.com", path: "/revoke")
        let disk = RecordingTokenCredentialStore(.issued(0))
        let session = try SessionFixture(
            store: disk, bearer: { $0.revocationEndpoint = revoke })
        try await session.atom.loadSession()
        disk.stored = .issued(1)
        try await session.atom.signOut()
        #expect(await session.transport.exchange(0).form["token"] == "R1")
    }

    /// The sign-out has read the store, and waits for its lock.
    @Test func signingOutRevokesWhatAnotherProcessRefreshesMeanwhile() async throws {
        let revoke = try AuthorizationEndpoint(host: "auth.example.com", path: "/revoke")
        let disk = RecordingTokenCredentialStore(.issued(0))
        let session = try SessionFixture(store: disk, bearer: { $0.revocationEndpoint = revoke })
        let (isRefreshing, isAnswered) = (Signal(), Signal())
        let refresh = Task {
            try await RecordingTokenCredentialStore(sharing: disk).exchange { _ in
                isRefreshing.raise()
                await isAnswered.wait()
                return .issued(1)
            }
        }
        await isRefreshing.wait()
        let atom = session.atom
        let signingOut = Task { try await atom.signOut() }
        try #require(await eventually { !disk.operations.isEmpty })
        isAnswered.raise()
        _ = try await (refresh.value, signingOut.value)
        #expect(disk.stored == nil)
        #expect(await session.transport.exchange(0).form["token"] == "R1")
    }

    /// Somebody else has signed in there, in the meantime.
    @Test func signingOutRevokesWhatWasHeldToo() async throws {
        let revoke = try AuthorizationEndpoint(host: "auth.example.com", path: "/revoke")
        let disk = RecordingTokenCredentialStore(.issued(0))
        let session = try SessionFixture(store: disk, bearer: { $0.revocationEndpoint = revoke })
        _ = try await session.atom.loadSession()
        try await disk.save(.issued(7))
        try await session.atom.signOut()
        #expect(disk.stored == nil)
        #expect(await session.transport.exchange(0).form["token"] == "R7")
        #expect(await session.transport.exchange(1).form["token"] == "R0")
    }

    /// A store that breaks its contract is emptied nevertheless.
    @Test func signingOutEmptiesAStoreWhoseExchangeDoesNothing() async throws {
        let store = IdleExchangeStore()
        let session = try SessionFixture(store: store)
        try await session.atom.signOut()
        #expect(try await store.load() == nil)
    }

    private final class IdleExchangeStore: TokenCredentialStore {
        private let stored = Locked<TokenCredential?>(.issued(0))

        func load() async throws -> TokenCredential? { stored.value }
        func save(_ credential: TokenCredential?) async throws { stored.set(credential) }

        func exchange(
            _ body: @Sendable (TokenCredential?) async throws -> TokenCredential?
        ) async throws -> TokenCredential? { nil }
    }

    /// The first sign-out writes nothing, and the second one knows of nobody.
    @Test func theSecondOfTwoSignOutsRevokesWhatItRemoves() async throws {
        let revoke = try AuthorizationEndpoint(host: "auth.example.com", path: "/revoke")
        let disk = RecordingTokenCredentialStore(.issued(0))
        let session = try SessionFixture(store: disk, bearer: { $0.revocationEndpoint = revoke })
        let actor = try #require(session.atom.manager.session)
        let isFree = Signal()
        let earlier = await actor.takeTurn()
        let operation = Task { await earlier.run { await isFree.wait() } }
        let atom = session.atom
        let before = actor.gate.tenure
        let first = Task { try await atom.signOut() }
        try #require(await eventually { !actor.gate.tenure.isSameSignIn(as: before) })
        let between = actor.gate.tenure
        let signingOut = [first, Task { try await atom.signOut() }]
        try #require(await eventually { !actor.gate.tenure.isSameSignIn(as: between) })
        isFree.raise()
        await operation.value
        for task in signingOut { try await task.value }
        #expect(disk.stored == nil)
        #expect(await session.transport.exchange(0).form["token"] == "R0")
        #expect(session.transport.exchanges.count == 1, "the first one has removed nothing")
    }

    /// A refresh that ends between the two leaves in the store what the sign-in has still to write.
    @Test func aSignOutThatWasOvertakenRevokesNobodyElse() async throws {
        let revoke = try AuthorizationEndpoint(host: "auth.example.com", path: "/revoke")
        let disk = RecordingTokenCredentialStore(.issued(0))
        let session = try SessionFixture(store: disk, bearer: { $0.revocationEndpoint = revoke })
        let call = session.call()
        await session.transport.exchange(0).answer()
        #expect(await call.status() == 200)
        let actor = try #require(session.atom.manager.session)
        let isFree = Signal()
        let earlier = await actor.takeTurn()
        let operation = Task {
            await earlier.run {
                await isFree.wait()
                disk.stored = .issued(5)
                actor.tell { machine, now in machine.left(.issued(5), now: now) }
            }
        }
        let atom = session.atom
        let before = actor.gate.tenure
        let signingOut = Task { try await atom.signOut() }
        try #require(await eventually { !actor.gate.tenure.isSameSignIn(as: before) })
        let between = actor.gate.tenure
        let signingIn = Task { try await atom.signIn(with: .issued(5)) }
        try #require(await eventually { !actor.gate.tenure.isSameSignIn(as: between) })
        isFree.raise()
        await operation.value
        try await signingOut.value
        try await signingIn.value
        #expect(await session.transport.exchange(1).form["token"] == "R0")
        let next = session.call()
        #expect(await session.transport.exchange(2).token == "A5")
        session.transport.exchanges[2].answer()
        #expect(await next.status() == 200)
        #expect(session.transport.exchanges.count == 3)
        #expect(disk.stored == .issued(5))
    }

    @Test func signingOutRevokesWhatTheAppHasSetItsVariableTo() async throws {
        let revoke = try AuthorizationEndpoint(host: "auth.example.com", path: "/revoke")
        let session = try SessionFixture(bearer: { $0.revocationEndpoint = revoke })
        let call = session.call()
        session.sent[0].answer()
        _ = await call.outcome()
        session.tokens.put(.issued(5))
        try await session.atom.signOut()
        #expect(await session.transport.exchange(1).form["token"] == "R5")
    }

    @Test func aStoreThatCannotBeReadCanBeSignedInToAndOutOf() async throws {
        let disk = RecordingTokenCredentialStore(.issued(0))
        disk.loadError = DiskFailure()
        let session = try SessionFixture(store: disk)
        try await session.atom.signIn(with: .issued(1))
        #expect(disk.stored == .issued(1))
        try await session.atom.signOut()
        #expect(disk.stored == nil)
    }

    @Test func loadingTheSessionLooksAgainWhileNobodyIsSignedIn() async throws {
        let disk = RecordingTokenCredentialStore()
        let session = try SessionFixture(store: disk)
        guard case .signedOut = try await session.atom.loadSession() else { throw Unexpected("signed in") }
        disk.stored = .issued(1)
        guard case .signedIn = try await session.atom.loadSession() else { throw Unexpected("not seen") }
    }

    @Test func aWriteThatFailedIsTriedAgainWhoeverLetsGoOfTheSession() async throws {
        let disk = RecordingTokenCredentialStore(.issued(0))
        disk.saveError = DiskFailure()
        let time = ManualClock()
        do {
            let session = try SessionFixture(store: disk, time: time)
            await #expect(throws: AtomError.self) { try await session.atom.signIn(with: .issued(2)) }
        }
        disk.saveError = nil
        time.advance(by: .seconds(1))
        try #require(await eventually { disk.stored == .issued(2) })
    }

    @Test func signingOutRevokesTheRefreshTokenAndWaitsForNobody() async throws {
        let revoke = try AuthorizationEndpoint(host: "auth.example.com", path: "/revoke")
        let session = try SessionFixture(
            store: InMemoryTokenCredentialStore(.issued(0)),
            bearer: { $0.revocationEndpoint = revoke })
        // The store has never been read: what it holds is revoked.
        try await session.atom.signOut()
        let revocation = await session.transport.exchange(0)
        #expect(revocation.request.target.absoluteString == "https://auth.example.com/revoke")
        #expect(revocation.form["token"] == "R0")
        #expect(revocation.form["token_type_hint"] == "refresh_token")
        revocation.answer("no", status: 503)
        guard case .signedOut = session.atom.sessionState else { throw Unexpected("not signed out") }
    }
}

/// A store whose `load` waits for the test.
private final class GatedStore: TokenCredentialStore {
    let isReading = Signal()
    let mayGoOn = Signal()
    private let stored: Locked<TokenCredential?>

    init(_ credential: TokenCredential?) { stored = Locked(credential) }

    func load() async throws -> TokenCredential? {
        let read = stored.value
        isReading.raise()
        await mayGoOn.wait(seconds: nil)
        return read
    }

    func save(_ credential: TokenCredential?) async throws { stored.set(credential) }
}
