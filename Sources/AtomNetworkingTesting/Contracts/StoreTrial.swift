import AtomNetworking
import Foundation

/// One run of one check: the place of its store, and what it has seen.
final class StoreTrial: Sendable {
    private struct Planned: Error, Equatable {}
    private struct TooSlow: Error, CustomStringConvertible {
        let what: String
        var description: String { "\(what) didn't return" }
    }

    let patience: Duration
    let findings = Findings()
    private let make: @Sendable (String) async throws -> any TokenCredentialStore
    private let place = UUID().uuidString

    init(patience: Duration, make: @escaping @Sendable (String) async throws -> any TokenCredentialStore) {
        self.patience = patience
        self.make = make
    }

    private func store() async throws -> any TokenCredentialStore { try await make(place) }

    /// A credential that can be told from all others.
    private func credential(_ number: Int) -> TokenCredential {
        TokenCredential(
            accessToken: "access-\(number)-ü", expiresAt: Date(timeIntervalSince1970: 1_900_000_000 + Double(number)),
            refreshToken: "refresh-\(number)", scope: "read write", tokenType: "Bearer", idToken: "id-\(number)")
    }

    private func limited<Value: Sendable>(
        _ what: String, _ operation: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        guard let result = await result(within: patience, of: operation) else { throw TooSlow(what: what) }
        return try result.get()
    }

    private func load(_ store: any TokenCredentialStore) async throws -> TokenCredential? {
        try await limited("`load`") { try await store.load() }
    }

    private func save(_ credential: TokenCredential?, in store: any TokenCredentialStore) async throws {
        try await limited("`save`") { try await store.save(credential) }
    }

    private func exchange(
        _ store: any TokenCredentialStore,
        _ body: @escaping @Sendable (TokenCredential?) async throws -> TokenCredential?
    ) async throws -> TokenCredential? {
        try await limited("`exchange`") { try await store.exchange(body) }
    }

    /// The tokens are compared: not every store keeps an exact date.
    private func expect(_ found: TokenCredential?, _ expected: TokenCredential?, _ place: String) {
        findings.expect(
            found?.accessToken == expected?.accessToken && found?.refreshToken == expected?.refreshToken,
            "\(place) there was \(Self.name(found)) instead of \(Self.name(expected))")
    }

    /// The tokens are those of these checks, and no secrets.
    private static func name(_ credential: TokenCredential?) -> String { credential?.refreshToken ?? "nothing" }

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
        case .sharedObjectsSeeTheSame:
            try await save(credential(1), in: store)
            expect(try await load(try await self.store()), credential(1), "for another object")
            let next = credential(2)
            _ = try await exchange(try await self.store()) { _ in next }
            expect(try await load(store), credential(2), "for the first object")
        case .exchangesAreExclusive: try await exchangesAreExclusive(store)
        case .savesWaitForExchanges: try await savesWaitForExchanges(store)
        case .waitIsBounded: try await waitIsBounded(store)
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
                found?.scope == each.scope && found?.tokenType == each.tokenType && found?.idToken == each.idToken,
                "scope, type or ID token was lost")
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
        try await save(credential(1), in: store)
        let isInside = Arrival<Bool>()
        let next = credential(2)
        let task = Task {
            try await store.exchange { _ in
                isInside.arrive(true)
                // Until it is cancelled.
                for await _ in AsyncStream<Never>(unfolding: { await Self.cancellation() }) {}
                try Task.checkCancellation()
                return next
            }
        }
        guard await isInside.wait(patience) == true else { throw TooSlow(what: "the start of `exchange`") }
        task.cancel()
        let outcome = await result(within: patience) { try await task.value }
        guard let outcome else { throw TooSlow(what: "a cancelled `exchange`") }
        if case .success = outcome { findings.note("the error of a cancelled body didn't come out") }
        expect(try await load(store), credential(1), "after a cancelled exchange")
        expect(try await exchange(store) { _ in next }, next, "in an exchange after a cancelled one")
    }

    private static func cancellation() async -> Never? {
        let arrival = Arrival<Bool>()
        return await withTaskCancellationHandler {
            _ = await arrival.wait(.seconds(3_600))
            return nil
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

    private func exchangesAreExclusive(_ store: any TokenCredentialStore) async throws {
        try await save(credential(0), in: store)
        let count = 12
        let inside = Guarded(0)
        let findings = findings
        let stores = [store, try await self.store(), try await self.store()]
        let credential: @Sendable (Int) -> TokenCredential = { [self] in self.credential($0) }
        try await limited("one of \(count) exchanges") {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<count {
                    let store = stores[number % stores.count]
                    group.addTask {
                        _ = try await store.exchange { old in
                            let others = inside.withLock { inside in
                                inside += 1
                                return inside - 1
                            }
                            findings.expect(others == 0, "two exchanges ran at once")
                            // The others come here, if nothing keeps them away.
                            for _ in 0..<50 { await Task.yield() }
                            inside.withLock { $0 -= 1 }
                            let number = old.flatMap { Int($0.refreshToken.dropFirst("refresh-".count)) } ?? -1
                            return credential(number + 1)
                        }
                    }
                }
                try await group.waitForAll()
            }
        }
        expect(try await load(store), credential(count), "after \(count) exchanges that count")
    }

    private func savesWaitForExchanges(_ store: any TokenCredentialStore) async throws {
        try await save(credential(1), in: store)
        let other = try await self.store()
        let (saved, next) = (credential(7), credential(2))
        let hasSaved = Arrival<Bool>()
        let findings = findings
        _ = try await exchange(store) { _ in
            Task.detached {
                do { try await other.save(saved) } catch { findings.note("a write that had to wait failed: \(error)") }
                hasSaved.arrive(true)
            }
            // A sound store never lets it through now, and a faulty one usually does.
            findings.expect(await hasSaved.wait(.milliseconds(200)) == nil, "somebody saved while an exchange ran")
            return next
        }
        guard await hasSaved.wait(patience) == true else { throw TooSlow(what: "a write behind an exchange") }
        expect(try await load(store), saved, "after the write that waited")
    }

    private func waitIsBounded(_ store: any TokenCredentialStore) async throws {
        let other = try await self.store()
        let patience = patience
        let next = credential(2)
        let findings = findings
        let outcome = await result(within: patience + patience) {
            try await store.exchange { old in
                let waiting = await result(within: patience) { try await other.exchange { _ in next } }
                switch waiting {
                case nil: findings.note("an exchange waited longer than \(patience) for the lock")
                case .success: findings.note("two exchanges ran at once")
                case .failure: break
                }
                return old
            }
        }
        findings.expect(outcome != nil, "an exchange whose body had returned didn't end")
    }
}
