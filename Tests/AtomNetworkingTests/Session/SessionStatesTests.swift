import AtomNetworkingTesting
import Foundation
import Testing

@testable import AtomNetworking

/// The present state of a session, and what follows.
@Suite(.limited) struct SessionStatesTests {
    private func name(_ state: SessionState?) -> String {
        switch state {
        case .unknown?: "unknown"
        case .signedOut?: "signedOut"
        case .signedIn?: "signedIn"
        case .refreshing?: "refreshing"
        case .ended?: "ended"
        case nil: "nothing"
        }
    }

    @Test func aStoreIsReadWithoutARequest() async throws {
        let session = try SessionFixture(store: RecordingTokenCredentialStore(.issued(0)))
        var states = session.atom.sessionStates.makeAsyncIterator()
        #expect(name(await states.next()) == "unknown")
        #expect(name(await states.next()) == "signedIn")
        try await session.atom.signOut()
        #expect(name(await states.next()) == "signedOut")
        try await session.atom.signIn(with: .issued(1))
        #expect(name(await states.next()) == "signedIn")
    }

    @Test func anEmptyStoreMeansThatNobodyIsSignedIn() async throws {
        let session = try SessionFixture(store: RecordingTokenCredentialStore())
        var states = session.atom.sessionStates.makeAsyncIterator()
        #expect(name(await states.next()) == "unknown")
        #expect(name(await states.next()) == "signedOut")
    }

    @Test func aLateListenerGetsThePresentState() async throws {
        let session = try SessionFixture(store: RecordingTokenCredentialStore(.issued(0, life: 0)))
        let call = session.call()
        await session.refresh().deny("invalid_grant")
        #expect(await call.error()?.isAccessTokenRefreshFailure == true)
        var states = session.atom.sessionStates.makeAsyncIterator()
        #expect(name(await states.next()) == "ended")
    }

    @Test func aStoreThatCanBeReadLaterIsNoticed() async throws {
        let disk = RecordingTokenCredentialStore(.issued(0))
        disk.loadError = DiskFailure()
        let session = try SessionFixture(store: disk)
        var states = session.atom.sessionStates.makeAsyncIterator()
        #expect(name(await states.next()) == "unknown")
        await #expect(throws: AtomError.self) { try await session.atom.loadSession() }
        disk.loadError = nil
        let call = session.call()
        await session.transport.exchange(0).answer()
        #expect(await call.status() == 200)
        #expect(name(await states.next()) == "signedIn")
    }

    @Test func aSignInOfAnotherProcessIsNoticed() async throws {
        let disk = RecordingTokenCredentialStore()
        let session = try SessionFixture(store: disk)
        var states = session.atom.sessionStates.makeAsyncIterator()
        #expect(name(await states.next()) == "unknown")
        #expect(name(await states.next()) == "signedOut")
        try await RecordingTokenCredentialStore(sharing: disk).save(.issued(0))
        let call = session.call()
        await session.transport.exchange(0).answer()
        #expect(await call.status() == 200)
        var last = await states.next()
        // The store was being read in between.
        if name(last) == "unknown" { last = await states.next() }
        #expect(name(last) == "signedIn")
    }

    @Test func aStateComesOnce() async throws {
        let session = try SessionFixture(store: RecordingTokenCredentialStore(.issued(0)))
        _ = try await session.atom.loadSession()
        var states = session.atom.sessionStates.makeAsyncIterator()
        #expect(name(await states.next()) == "signedIn")
        try await session.atom.signIn(with: .issued(1))
        try await session.atom.signIn(with: .issued(2))
        try await session.atom.signOut()
        #expect(name(await states.next()) == "signedOut")
    }

    @Test func aServiceWithoutASessionHasOneState() async {
        var states: [String] = []
        for await state in Atom().sessionStates { states.append(name(state)) }
        #expect(states == ["signedOut"])
    }

    @Test func theSequenceEndsWithTheSession() async throws {
        var session: SessionFixture? = try SessionFixture()
        let states = session?.atom.sessionStates
        session = nil
        var count = 0
        for await _ in try #require(states) { count += 1 }
        #expect(count <= 1)
    }
}

private struct Unasked: TokenCredentialProvider {
    func credential(replacing rejected: TokenCredential?) async throws -> TokenCredential {
        throw Unexpected("nobody asked")
    }
}

/// Signing out with a revocation that is waited for.
@Suite(.limited) struct WaitingSignOutTests {
    private func session(_ disk: RecordingTokenCredentialStore) throws -> SessionFixture {
        let endpoint = try AuthorizationEndpoint(host: "auth.example.com", path: "/revoke")
        return try SessionFixture(store: disk, bearer: { $0.revocationEndpoint = endpoint })
    }

    @Test func itReturnsAfterTheServersAnswer() async throws {
        let disk = RecordingTokenCredentialStore(.issued(0))
        let session = try session(disk)
        _ = try await session.atom.loadSession()
        let hasReturned = Locked(false)
        async let signOut: Void = {
            try await session.atom.signOut(waitingForRevocation: true)
            hasReturned.with { $0 = true }
        }()
        let revocation = await session.transport.exchange(0)
        #expect(revocation.form["token"] == "R0")
        #expect(disk.writes.count == 1, "the store is emptied first")
        #expect(!hasReturned.value)
        revocation.answer()
        try await signOut
    }

    @Test func aRefusalIsAnErrorAndTheSessionIsOver() async throws {
        let disk = RecordingTokenCredentialStore(.issued(0))
        let session = try session(disk)
        _ = try await session.atom.loadSession()
        let signOut = Task { try await session.atom.signOut(waitingForRevocation: true) }
        await session.transport.exchange(0).answer(status: 503)
        await #expect {
            try await signOut.value
        } throws: { error in
            guard case .authentication(.credentialNotRevoked(let cause, .answered))? = error as? AtomError,
                case .response(let response)? = cause as? AtomError
            else { return false }
            return response.statusCode == 503
                && "\(error)".contains("POST https://auth.example.com/revoke: the server answered HTTP 503")
        }
        guard case .signedOut = session.atom.sessionState else {
            throw Unexpected("\(session.atom.sessionState)")
        }
    }

    @Test func aLostConnectionIsAnError() async throws {
        let session = try session(RecordingTokenCredentialStore(.issued(0)))
        _ = try await session.atom.loadSession()
        let signOut = Task { try await session.atom.signOut(waitingForRevocation: true) }
        await session.transport.exchange(0).fail(.cannotConnectToHost, delivery: .notSent)
        await #expect {
            try await signOut.value
        } throws: { error in
            guard case .authentication(.credentialNotRevoked(_, .notSent))? = error as? AtomError else { return false }
            return !"\(error)".contains("R0")
        }
    }

    @Test func aCancelledCallerLeavesAtOnceAndTheRevocationGoesOn() async throws {
        let session = try session(RecordingTokenCredentialStore(.issued(0)))
        _ = try await session.atom.loadSession()
        let task = Task { try await session.atom.signOut(waitingForRevocation: true) }
        let revocation = await session.transport.exchange(0)
        task.cancel()
        await #expect(throws: AtomError.self) { try await task.value }
        #expect(!revocation.isCancelled)
        revocation.answer()
    }

    @Test(arguments: [true, false])
    func withoutAnEndpointItCannotBeWaitedFor(hasProvider: Bool) async throws {
        let session =
            hasProvider
            ? try SessionFixture(
                store: RecordingTokenCredentialStore(.issued(0)), provider: Unasked())
            : try SessionFixture(store: RecordingTokenCredentialStore(.issued(0)))
        _ = try await session.atom.loadSession()
        await #expect {
            try await session.atom.signOut(waitingForRevocation: true)
        } throws: { error in
            guard case .authentication(.credentialNotRevoked(let cause, .notSent))? = error as? AtomError,
                case .requestable(.unsupportedConfiguration(let violation))? = cause as? AtomError
            else { return false }
            return violation.subject == "BearerAuthentication.revocationEndpoint"
        }
        guard case .signedOut = session.atom.sessionState else { throw Unexpected("\(session.atom.sessionState)") }
        #expect(session.transport.exchanges.isEmpty)
    }

    @Test func plainHTTPToAnotherMachineIsRefused() async throws {
        let endpoint = try AuthorizationEndpoint(scheme: .http, host: "auth.example.com", path: "/revoke")
        let session = try SessionFixture(
            store: RecordingTokenCredentialStore(.issued(0)), bearer: { $0.revocationEndpoint = endpoint })
        _ = try await session.atom.loadSession()
        await #expect {
            try await session.atom.signOut(waitingForRevocation: true)
        } throws: { error in
            guard case .authentication(.credentialNotRevoked(let cause, .notSent))? = error as? AtomError,
                case .requestable(.originNotAllowed)? = cause as? AtomError
            else { return false }
            return true
        }
        try await session.atom.signIn(with: .issued(1))
        try await session.atom.signOut()
        #expect(session.transport.exchanges.isEmpty)
    }

    @Test func nobodyToSignOutIsNoError() async throws {
        let session = try session(RecordingTokenCredentialStore())
        try await session.atom.signOut(waitingForRevocation: true)
        #expect(session.transport.exchanges.isEmpty)
    }
}
