import AtomNetworkingTesting
import Foundation
import Testing

@testable import AtomNetworking

/// Tokens from the app's own provider.
@Suite(.limited) struct ProviderTests {
    @Test func manyRequestsAskOnce() async throws {
        let login = ScriptedLogin()
        let store = InMemoryTokenCredentialStore()
        let session = try SessionFixture(store: store, provider: login)
        let calls = (0..<20).map { session.call("/\($0)") }
        let form = await login.form(0)
        #expect(form.rejected == nil)
        #expect(session.transport.exchanges.isEmpty)
        form.finish(.success(.issued(1)))
        _ = await session.transport.exchange(19)
        #expect(session.sentPaths == (0..<20).map { "/\($0)" })
        for exchange in session.sent {
            #expect(exchange.token == "A1")
            exchange.answer()
        }
        for call in calls { #expect(await call.status() == 200) }
        #expect(login.count == 1)
        #expect(try await store.load() == .issued(1))
    }

    @Test func aRequestOfTheProviderItselfDoesNotWaitForItself() async throws {
        let atom = Locked<Atom?>(nil)
        let login = SelfAskingLogin(atom: atom)
        let session = try SessionFixture(store: InMemoryTokenCredentialStore(), provider: login)
        atom.with { $0 = session.atom }
        let error = try #require(await session.call().error())
        guard case .authentication(.credentialNotProvided(let cause, _, _)) = error,
            case .authentication(.missingCredential(.notSent))? = cause as? AtomError
        else { throw Unexpected("\(error)") }
        #expect(session.transport.exchanges.isEmpty)
        // The same from a task that outlives the call waits like any other.
        let later = try #require(login.later.value)
        login.isOpen.raise()
        await session.transport.exchange(0).answer()
        #expect(try await later.value.statusCode == 200)
    }

    @Test func aRejectedTokenIsHandedToTheProvider() async throws {
        let login = ScriptedLogin()
        let session = try SessionFixture(store: InMemoryTokenCredentialStore(.issued(0)), provider: login)
        let call = session.call()
        await session.transport.exchange(0).answer(status: 401)
        let form = await login.form(0)
        #expect(form.rejected == .issued(0))
        form.finish(.success(.issued(1)))
        let retry = await session.transport.exchange(1)
        #expect(retry.token == "A1")
        retry.answer()
        #expect(await call.status() == 200)
    }

    @Test func theSameRejectedTokenAgainIsAFailureAndNotSent() async throws {
        let login = ScriptedLogin()
        let session = try SessionFixture(store: InMemoryTokenCredentialStore(.issued(0)), provider: login)
        let call = session.call()
        await session.transport.exchange(0).answer(status: 401)
        await login.form(0).finish(.success(.issued(0)))
        guard case .authentication(.credentialNotProvided(_, nil, .answered)) = await call.error() else {
            throw Unexpected("\(String(describing: await call.error()))")
        }
        #expect(session.transport.exchanges.count == 1)
    }

    @Test(arguments: ["", "a b", "a\r\nX: y", "ä"])
    func aTokenThatCannotBeSentIsAFailure(_ token: String) async throws {
        let login = ScriptedLogin()
        let session = try SessionFixture(store: InMemoryTokenCredentialStore(), provider: login)
        let call = session.call()
        await login.form(0).finish(
            .success(TokenCredential(accessToken: token, expiresAt: .distantFuture, refreshToken: "")))
        let error = await call.error()
        guard case .authentication(.credentialNotProvided(let cause, nil, .notSent)) = error else {
            throw Unexpected("\(String(describing: error))")
        }
        #expect(cause is TokenResponseError)
        #expect(session.transport.exchanges.isEmpty)
    }

    @Test func theNextRequestAsksAgainAfterAFailure() async throws {
        struct Closed: Error {}
        let login = ScriptedLogin()
        let session = try SessionFixture(store: InMemoryTokenCredentialStore(), provider: login)
        for number in 0..<5 {
            let call = session.call()
            await login.form(number).finish(.failure(Closed()))
            guard case .authentication(.credentialNotProvided(let cause, nil, .notSent)) = await call.error() else {
                throw Unexpected("\(String(describing: await call.error()))")
            }
            #expect(cause is Closed)
        }
        let call = session.call()
        await login.form(5).finish(.success(.issued(1)))
        await session.transport.exchange(0).answer()
        #expect(await call.status() == 200)
    }

    @Test func theAppMaySayWhenToAskAgain() async throws {
        struct Offline: Error {}
        let login = ScriptedLogin()
        let session = try SessionFixture(store: InMemoryTokenCredentialStore(), provider: login)
        let first = session.call()
        await login.form(0).finish(.failure(TokenCredentialProviderError.retryAfter(.seconds(60), Offline())))
        guard case .authentication(.credentialNotProvided(let cause, let retryAt?, _)) = await first.error() else {
            throw Unexpected("no time is named")
        }
        #expect(cause is Offline)
        #expect(retryAt == session.time.date.addingTimeInterval(60))
        // A request with a short deadline fails at once; one with a long deadline waits.
        let hasty = session.call(timeout: ServiceTimeout(request: 30, resource: 30))
        #expect(await hasty.error()?.isAccessTokenRefreshFailure == true)
        let patient = session.call()
        #expect(login.count == 1)
        await session.time.waitForAlarm(within: .seconds(60))
        session.time.advance(by: .seconds(60))
        await login.form(1).finish(.success(.issued(1)))
        await session.transport.exchange(0).answer()
        #expect(await patient.status() == 200)
    }

    @Test func theAppMayEndTheSessionUntilSomebodySignsIn() async throws {
        struct Banned: Error {}
        let login = ScriptedLogin()
        let session = try SessionFixture(store: InMemoryTokenCredentialStore(), provider: login)
        let first = session.call()
        await login.form(0).finish(.failure(TokenCredentialProviderError.retryAfterSignIn(Banned())))
        #expect(await first.error()?.isAccessTokenRefreshFailure == true)
        #expect(await session.call().error()?.isAccessTokenRefreshFailure == true)
        #expect(login.count == 1)
        try await session.atom.signIn(with: .issued(4))
        let call = session.call()
        let sent = await session.transport.exchange(0)
        #expect(sent.token == "A4")
        sent.answer()
        #expect(await call.status() == 200)
    }

    @Test func signingOutCancelsTheProviderAndTheNextRequestWaitsForItsEnd() async throws {
        let login = ScriptedLogin(endsOnCancel: false)
        let session = try SessionFixture(store: InMemoryTokenCredentialStore(), provider: login)
        let first = session.call()
        let form = await login.form(0)
        try await session.atom.signOut()
        guard case .authentication(.signedOut) = await first.error() else { throw Unexpected("not told") }
        await form.wasCancelled.wait()
        let second = session.call()
        form.finish(.success(.issued(1)))
        let next = await login.form(1)
        #expect(login.atOnce == 1, "never two login screens")
        next.finish(.success(.issued(2)))
        let exchange = await session.transport.exchange(0)
        #expect(exchange.token == "A2")
        exchange.answer()
        #expect(await second.status() == 200)
    }

    @Test func theProviderHasADeadline() async throws {
        let login = ScriptedLogin()
        let session = try SessionFixture(
            store: InMemoryTokenCredentialStore(), provider: login,
            bearer: {
                #expect($0.deadline == .seconds(300))
                $0.deadline = .seconds(20)
            })
        let call = session.call()
        let form = await login.form(0)
        await session.time.waitForAlarm(within: .seconds(20))
        session.time.advance(by: .seconds(20))
        await form.wasCancelled.wait()
        guard case .authentication(.credentialNotProvided(let cause, _, .notSent)) = await call.error() else {
            throw Unexpected("\(String(describing: await call.error()))")
        }
        #expect((cause as? AtomError)?.description.contains("20") == true)
    }

    @Test func aProviderThatHangsKeepsTheNextPersonForTenSeconds() async throws {
        let login = ScriptedLogin(endsOnCancel: false)
        let session = try SessionFixture(
            store: InMemoryTokenCredentialStore(), provider: login, bearer: { $0.deadline = .seconds(2) })
        let first = session.call()
        let hanging = await login.form(0)
        await session.time.waitForAlarm(within: .seconds(2))
        session.time.advance(by: .seconds(2))
        guard case .authentication(.credentialNotProvided) = await first.error() else { throw Unexpected("not told") }
        try await session.atom.signOut()
        let second = session.call()
        await session.time.waitForAlarm(within: .seconds(10))
        session.time.advance(by: .milliseconds(9_999))
        #expect(login.count == 1 && second.count == 0, "its own deadline has not begun")
        session.time.advance(by: .milliseconds(1))
        let next = await login.form(1)
        hanging.finish(.success(.issued(1)))
        next.finish(.success(.issued(2)))
        let exchange = await session.transport.exchange(0)
        #expect(exchange.token == "A2")
        exchange.answer()
        #expect(await second.status() == 200)
    }

    @Test func aProviderThatHangsKeepsNobodyFromSigningInThroughTheApp() async throws {
        let login = ScriptedLogin(endsOnCancel: false)
        let session = try SessionFixture(store: InMemoryTokenCredentialStore(), provider: login)
        let first = session.call()
        _ = await login.form(0)
        try await session.atom.signIn(with: .issued(5))
        guard case .authentication(.signedOut) = await first.error() else { throw Unexpected("not told") }
        let second = session.call()
        let exchange = await session.transport.exchange(0)
        #expect(exchange.token == "A5")
        exchange.answer()
        #expect(await second.status() == 200)
    }

    @Test func anotherProcessThatSignedInIsAdoptedInsteadOfAsking() async throws {
        let login = ScriptedLogin()
        let disk = RecordingTokenCredentialStore(.issued(0))
        let session = try SessionFixture(store: disk, provider: login)
        let call = session.call()
        let first = await session.transport.exchange(0)
        disk.stored = .issued(1)
        first.answer(status: 401)
        let second = await session.transport.exchange(1)
        #expect(second.token == "A1")
        second.answer()
        #expect(await call.status() == 200)
        #expect(login.count == 0)
    }

    @Test func aSignOutInAnotherProcessIsNotUndoneByARenewal() async throws {
        let login = ScriptedLogin()
        let disk = RecordingTokenCredentialStore(.issued(0, life: 0))
        let session = try SessionFixture(store: disk, provider: login)
        let call = session.call()
        let form = await login.form(0)
        #expect(form.rejected == .issued(0, life: 0))
        disk.stored = nil
        form.finish(.success(.issued(1)))
        guard case .authentication(.signedOut(.notSent)) = await call.error() else { throw Unexpected("not told") }
        #expect(disk.stored == nil)
        #expect(disk.writes.isEmpty)
    }

    @Test(arguments: [true, false])
    func whoSignsInInAnotherProcessDuringARenewalGoesBeforeItAndNotBeforeASignIn(isRenewal: Bool) async throws {
        let login = ScriptedLogin()
        let disk = RecordingTokenCredentialStore(isRenewal ? .issued(0, life: 0) : nil)
        let session = try SessionFixture(store: disk, provider: login)
        let call = session.call()
        let form = await login.form(0)
        disk.stored = .issued(5)
        form.finish(.success(.issued(1)))
        let exchange = await session.transport.exchange(0)
        #expect(exchange.token == (isRenewal ? "A5" : "A1"))
        exchange.answer()
        #expect(await call.status() == 200)
        #expect(disk.stored == .issued(isRenewal ? 5 : 1))
    }

    @Test func theStoreIsFreeWhileAPersonTakesTheirTime() async throws {
        let login = ScriptedLogin()
        let disk = RecordingTokenCredentialStore()
        let session = try SessionFixture(store: disk, provider: login)
        let call = session.call()
        let form = await login.form(0)
        let other = RecordingTokenCredentialStore(sharing: disk)
        _ = try await other.exchange { $0 }
        form.finish(.success(.issued(1)))
        await session.transport.exchange(0).answer()
        #expect(await call.status() == 200)
        #expect(disk.stored == .issued(1))
    }

    @Test func aTokenIsUsedToItsEndBeforeALoginScreenComesUp() async throws {
        let login = ScriptedLogin()
        let session = try SessionFixture(
            store: InMemoryTokenCredentialStore(.issued(0, life: 100)), provider: login)
        session.time.advance(by: .seconds(99))
        let call = session.call()
        let exchange = await session.transport.exchange(0)
        #expect(exchange.token == "A0")
        exchange.answer()
        #expect(await call.status() == 200)
        #expect(login.count == 0)
    }

    @Test func whoSignsOutInALoginScreensTimeIsNotSignedInByIt() async throws {
        let login = ScriptedLogin()
        let disk = RecordingTokenCredentialStore()
        let session = try SessionFixture(store: disk, provider: login)
        let call = session.call()
        let form = await login.form(0)
        try await session.atom.signIn(with: .issued(8))
        form.finish(.success(.issued(1)))
        guard case .authentication(.signedOut) = await call.error() else { throw Unexpected("not told") }
        let next = session.call()
        let exchange = await session.transport.exchange(0)
        #expect(exchange.token == "A8")
        exchange.answer()
        #expect(await next.status() == 200)
        #expect(disk.stored == .issued(8))
    }
}

/// Sends a signed request before it returns a credential.
private final class SelfAskingLogin: TokenCredentialProvider {
    let atom: Locked<Atom?>
    let later = Locked<Task<AtomResponse, any Error>?>(nil)
    let isOpen = Signal()
    private let count = Locked(0)

    init(atom: Locked<Atom?>) { self.atom = atom }

    func credential(replacing rejected: TokenCredential?) async throws -> TokenCredential {
        count.with { $0 += 1 }
        guard count.value == 1, let atom = atom.value else { return .issued(1) }
        let task = Task { [isOpen] in
            await isOpen.wait()
            return try await atom.enqueue(PathEndpoint(pathText: "/later")).resume()
        }
        later.with { $0 = task }
        try await atom.enqueue(PathEndpoint(pathText: "/self")).resume()
        return .issued(1)
    }
}

/// A login screen that the test fills in.
final class ScriptedLogin: TokenCredentialProvider, @unchecked Sendable {
    /// One call of the provider.
    final class Form: Sendable {
        let rejected: TokenCredential?
        let wasCancelled = Signal()
        private let result = Locked<Result<TokenCredential, any Error>?>(nil)
        private let isFinished = Signal()

        init(replacing rejected: TokenCredential?) { self.rejected = rejected }

        func finish(_ result: Result<TokenCredential, any Error>) {
            self.result.with { $0 = $0 ?? result }
            isFinished.raise()
        }

        fileprivate func outcome() async throws -> TokenCredential {
            await isFinished.wait(seconds: nil)
            return try (result.value ?? .failure(CancellationError())).get()
        }
    }

    // All is touched under `lock` only.
    private let lock = NSLock()
    private var forms: [Form] = []
    private var waiting: [(Int, Signal)] = []
    private var open = 0
    private var most = 0
    private let endsOnCancel: Bool

    init(endsOnCancel: Bool = true) { self.endsOnCancel = endsOnCancel }

    /// How often it was asked.
    var count: Int { lock.withLock { forms.count } }
    /// The largest number of calls at the same time.
    var atOnce: Int { lock.withLock { most } }

    /// The call with this number, as soon as it comes.
    func form(_ index: Int, sourceLocation: SourceLocation = #_sourceLocation) async -> Form {
        let isThere = Signal()
        lock.withLock { if index < forms.count { isThere.raise() } else { waiting.append((index, isThere)) } }
        await isThere.wait(sourceLocation: sourceLocation)
        // Otherwise the test has failed by now, and gets a call that nobody made.
        return lock.withLock { index < forms.count ? forms[index] : Form(replacing: nil) }
    }

    func credential(replacing rejected: TokenCredential?) async throws -> TokenCredential {
        let form = Form(replacing: rejected)
        let woken = lock.withLock {
            forms.append(form)
            open += 1
            most = max(most, open)
            let woken = waiting.filter { $0.0 < forms.count }
            waiting.removeAll { $0.0 < forms.count }
            return woken.map(\.1)
        }
        for isThere in woken { isThere.raise() }
        defer { lock.withLock { open -= 1 } }
        return try await withTaskCancellationHandler {
            try await form.outcome()
        } onCancel: {
            if endsOnCancel { form.finish(.failure(CancellationError())) }
            form.wasCancelled.raise()
        }
    }
}
