import AtomNetworking
import Foundation

/// What a store demands that several processes or machines share.
extension StoreTrial {
    func sharedObjectsSeeTheSame(_ store: any TokenCredentialStore) async throws {
        let other = try await self.store()
        try await save(credential(1), in: store)
        expect(try await load(other), credential(1), "for another object")
        let next = credential(2)
        _ = try await exchange(other) { _ in next }
        expect(try await load(store), credential(2), "for the first object")
        // A refresh goes by what it is handed under the lock.
        let handed = Guarded<TokenCredential?>(nil)
        for (object, number) in [(store, 2), (other, 3), (store, 4)] {
            let next = credential(number + 1)
            _ = try await exchange(object) { old in
                handed.withLock { $0 = old }
                return next
            }
            expect(handed.withLock { $0 }, credential(number), "in an exchange after one of another object")
        }
    }

    /// Exchanges of several objects, each of which adds one to the number of the
    /// credential; the first one of an empty place stores 0.
    func exchangesAreExclusive(_ store: any TokenCredentialStore) async throws {
        let count = 12
        let first = try await load(store) == nil ? 0 : 1
        let inside = Guarded(0)
        let findings = findings
        // The SDK makes one call at a time to each object.
        var stores = [store]
        while stores.count < count { stores.append(try await self.store()) }
        let credential: @Sendable (Int) -> TokenCredential = { [self] in self.credential($0) }
        try await limited("one of \(count) exchanges") { [stores] in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for store in stores {
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
        expect(try await load(store), credential(count - 1 + first), "after \(count) exchanges that count")
    }

    func savesWaitForExchanges(_ store: any TokenCredentialStore) async throws {
        try await save(credential(1), in: store)
        let (other, elsewhere) = (try await self.store(), try await storeElsewhere())
        let (saved, next) = (credential(7), credential(2))
        let (isSaving, hasSaved) = (Arrival<Bool>(), Arrival<Bool>())
        let (findings, patience) = (findings, patience)
        _ = try await exchange(store) { _ in
            Task.detached {
                isSaving.arrive(true)
                do { try await other.save(saved) } catch { findings.note("a write that had to wait failed: \(error)") }
                hasSaved.arrive(true)
            }
            _ = await isSaving.wait(patience)
            // A sound store never lets it through now; a faulty one usually does before so many writes to another
            // place. Those may fail or wait: a store may lock all its places at once.
            _ = await result(within: patience) {
                for _ in 0..<20 { try await elsewhere.save(saved) }
            }
            // On a busy machine it may not have had its turn.
            if hasSaved.value == nil { _ = await hasSaved.wait(min(patience, .milliseconds(200))) }
            findings.expect(hasSaved.value == nil, "somebody saved while an exchange ran")
            return next
        }
        guard await hasSaved.wait(patience) == true else { throw TooSlow(what: "a write behind an exchange") }
        expect(try await load(store), saved, "after the write that waited")
    }

    func waitIsBounded(_ store: any TokenCredentialStore) async throws {
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

    func cancelledResultIsStored(_ store: any TokenCredentialStore) async throws {
        let next = credential(2)
        // The server has answered in spite of it.
        let outcome = try await cancelledExchange(store) { next }
        if case .failure(let error) = outcome { findings.note("a cancelled exchange with a result threw \(error)") }
        expect(try await load(store), next, "after an exchange that was cancelled before its result was there")
    }
}
