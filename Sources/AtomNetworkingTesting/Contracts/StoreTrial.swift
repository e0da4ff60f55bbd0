import AtomNetworking
import Foundation

/// One run of one check: the place of its store, and what it has seen.
final class StoreTrial: Sendable {
    struct Planned: Error {}
    struct TooSlow: Error, CustomStringConvertible {
        let what: String
        var description: String { "\(what) didn't return" }
    }

    /// Whether two objects of a place share their tokens.
    let isShared: Bool
    let patience: Duration
    let findings = Findings()
    private let make: @Sendable (String) async throws -> any TokenCredentialStore
    private let place = UUID().uuidString

    init(
        isShared: Bool, patience: Duration, make: @escaping @Sendable (String) async throws -> any TokenCredentialStore
    ) {
        self.isShared = isShared
        self.patience = patience
        self.make = make
    }

    /// Another object of the same place: another process, as far as one process can stand for two.
    func store() async throws -> any TokenCredentialStore { try await make(place) }

    /// An object of another place.
    func storeElsewhere() async throws -> any TokenCredentialStore { try await make(place + "-other") }

    /// A credential that can be told from all others.
    func credential(_ number: Int) -> TokenCredential {
        TokenCredential(
            accessToken: "access-\(number)-ü", expiresAt: Date(timeIntervalSince1970: 1_900_000_000 + Double(number)),
            refreshToken: "refresh-\(number)", scope: "read write", tokenType: "Bearer", idToken: "id-\(number)",
            keyThumbprint: "key-\(number)")
    }

    func limited<Value: Sendable>(
        _ what: String, _ operation: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        guard let result = await result(within: patience, of: operation) else { throw TooSlow(what: what) }
        return try result.get()
    }

    func load(_ store: any TokenCredentialStore) async throws -> TokenCredential? {
        try await limited("`load`") { try await store.load() }
    }

    func save(_ credential: TokenCredential?, in store: any TokenCredentialStore) async throws {
        try await limited("`save`") { try await store.save(credential) }
    }

    func exchange(
        _ store: any TokenCredentialStore,
        _ body: @escaping @Sendable (TokenCredential?) async throws -> TokenCredential?
    ) async throws -> TokenCredential? {
        try await limited("`exchange`") { try await store.exchange(body) }
    }

    /// The tokens are compared: not every store keeps an exact date.
    func expect(_ found: TokenCredential?, _ expected: TokenCredential?, _ place: String) {
        findings.expect(
            found?.accessToken == expected?.accessToken && found?.refreshToken == expected?.refreshToken,
            "\(place) there was \(Self.name(found)) instead of \(Self.name(expected))")
    }

    /// The tokens are those of these checks, and no secrets.
    private static func name(_ credential: TokenCredential?) -> String {
        guard let credential else { return "nothing" }
        return credential.refreshToken.isEmpty ? "a credential without a refresh token" : credential.refreshToken
    }

    func run(_ check: TokenCredentialStoreContract.Check) async throws {
        let store = try await store()
        switch check {
        case .emptyAtFirst: expect(try await load(store), nil, "in a new store")
        case .loadsWhatWasSaved: try await loadsWhatWasSaved(store)
        case .saveReplaces:
            for number in 1...3 { try await save(credential(number), in: store) }
            expect(try await load(store), credential(3), "after three writes")
        case .nilClears:
            try await save(nil, in: store)
            expect(try await load(store), nil, "after nothing was removed")
            try await save(credential(1), in: store)
            try await save(nil, in: store)
            expect(try await load(store), nil, "after the removal")
        case .exchangeStores: try await exchangeStores(store)
        case .exchangeClears:
            try await save(credential(1), in: store)
            expect(try await exchange(store) { _ in nil }, nil, "in the result of the exchange")
            expect(try await load(store), nil, "after the exchange")
        case .bodyIsCalledOnce:
            let calls = Guarded(0)
            let next = credential(2)
            try await save(credential(1), in: store)
            for isNew in [true, false] {
                calls.withLock { $0 = 0 }
                _ = try await exchange(store) { old in
                    calls.withLock { $0 += 1 }
                    return isNew ? next : old
                }
                let count = calls.withLock { $0 }
                findings.expect(count == 1, "the body was called \(count) times")
            }
        case .unchangedIsNotWritten: try await unchangedIsNotWritten(store)
        case .errorChangesNothing: try await errorChangesNothing(store)
        case .cancellationChangesNothing: try await cancellationChangesNothing(store)
        case .savedMeanwhileStays: try await savedMeanwhileStays(store)
        case .sharedObjectsSeeTheSame: try await sharedObjectsSeeTheSame(store)
        case .exchangesAreExclusive:
            try await save(credential(0), in: store)
            try await exchangesAreExclusive(store)
        case .emptyPlacesAreExclusive: try await exchangesAreExclusive(store)
        case .savesWaitForExchanges: try await savesWaitForExchanges(store)
        case .waitIsBounded: try await waitIsBounded(store)
        case .cancelledResultIsStored: try await cancelledResultIsStored(store)
        case .intentIsLeftBehind, .intentIsRemoved, .intentEndsWithItsTokens:
            guard let store = store as? any RefreshIntentRecording else { return findings.notOffered() }
            try await runOfIntents(check, store)
        }
    }

    private func loadsWhatWasSaved(_ store: any TokenCredentialStore) async throws {
        let long = TokenCredential(
            accessToken: String(repeating: "a.b-c_~+/=", count: 800), expiresAt: .distantFuture, refreshToken: "")
        for each in [credential(1), long] {
            try await save(each, in: store)
            let found = try await load(store)
            expect(found, each, "after a write")
            findings.expect(
                found?.scope == each.scope && found?.tokenType == each.tokenType && found?.idToken == each.idToken
                    && found?.keyThumbprint == each.keyThumbprint,
                "scope, type, ID token or the key's thumbprint was lost")
            let drift = found.map { abs($0.expiresAt.timeIntervalSince(each.expiresAt)) } ?? 0
            findings.expect(drift < 1.5, "the expiry changed by \(drift) s")
        }
    }

    private func exchangeStores(_ store: any TokenCredentialStore) async throws {
        let (first, second) = (credential(1), credential(2))
        let seen = Guarded<[TokenCredential?]>([])
        for next in [first, second] {
            let result = try await exchange(store) { old in
                seen.withLock { $0.append(old) }
                return next
            }
            expect(result, next, "in the result of the exchange")
            expect(try await load(store), next, "after the exchange")
        }
        let handed = seen.withLock { $0 }
        findings.expect(handed.count == 2, "the body was called \(handed.count) times")
        expect(handed.first ?? nil, nil, "in the body of the first exchange")
        expect(handed.last ?? nil, first, "in the body of the second exchange")
    }

    private func unchangedIsNotWritten(_ store: any TokenCredentialStore) async throws {
        // A write would undo what somebody else has written in the meantime.
        try await save(credential(1), in: store)
        let other = credential(2)
        _ = try await exchange(store) { old in
            try await store.save(other)
            return old
        }
        expect(try await load(store), other, "after an exchange that changed nothing")
    }

    private func errorChangesNothing(_ store: any TokenCredentialStore) async throws {
        try await save(credential(1), in: store)
        do {
            _ = try await exchange(store) { _ in throw Planned() }
            findings.note("the error of the body didn't come out")
        } catch {
            findings.expect(error is Planned, "the body's error came out as \(type(of: error))")
        }
        expect(try await load(store), credential(1), "after an error")
        let next = credential(2)
        expect(try await exchange(store) { _ in next }, next, "in an exchange after an error")
    }

    private func cancellationChangesNothing(_ store: any TokenCredentialStore) async throws {
        let next = credential(2)
        let outcome = try await cancelledExchange(store) {
            try Task.checkCancellation()
            return next
        }
        if case .success = outcome { findings.note("the error of a cancelled body didn't come out") }
        expect(try await load(store), credential(1), "after a cancelled exchange")
        expect(try await exchange(store) { _ in next }, next, "in an exchange after a cancelled one")
    }

    /// Stores the first credential, and cancels an exchange inside its body, which then ends.
    func cancelledExchange(
        _ store: any TokenCredentialStore, end: @escaping @Sendable () throws -> TokenCredential?
    ) async throws -> Result<TokenCredential?, any Error> {
        try await save(credential(1), in: store)
        let isInside = Arrival<Bool>()
        let task = Task {
            try await store.exchange { _ in
                isInside.arrive(true)
                await Self.cancellation()
                return try end()
            }
        }
        guard await isInside.wait(patience) == true else { throw TooSlow(what: "the start of `exchange`") }
        task.cancel()
        let outcome = await result(within: patience) { try await task.value }
        guard let outcome else { throw TooSlow(what: "a cancelled `exchange`") }
        return outcome
    }

    /// Returns when the task is cancelled.
    private static func cancellation() async {
        let arrival = Arrival<Bool>()
        await withTaskCancellationHandler {
            _ = await arrival.wait(.seconds(3_600))
        } onCancel: {
            arrival.arrive(true)
        }
    }

    private func savedMeanwhileStays(_ store: any TokenCredentialStore) async throws {
        for saved in [credential(7), nil] {
            try await save(credential(1), in: store)
            let next = credential(2)
            let result = try await exchange(store) { _ in
                try await store.save(saved)
                return next
            }
            expect(try await load(store), saved, "after somebody saved while an exchange ran")
            expect(result, saved, "in the result of an exchange while which somebody saved")
        }
    }
}
