import AtomNetworking

/// What `RefreshIntentRecording` demands.
extension StoreTrial {
    func runOfIntents(
        _ check: TokenCredentialStoreContract.Check, _ store: any RefreshIntentRecording
    ) async throws {
        switch check {
        case .intentIsRemoved: try await intentIsRemoved(store)
        case .intentEndsWithItsTokens: try await intentEndsWithItsTokens(store)
        default: try await intentIsLeftBehind(store)
        }
    }

    /// A refresh as the SDK runs it: it records in an exchange what it is about to send.
    ///
    /// - Parameter next: What the server answers; `nil` if the answer is lost.
    /// - Returns: Whether an earlier one was left behind.
    private func refresh(
        _ store: any RefreshIntentRecording, of credential: TokenCredential, answeredBy next: TokenCredential? = nil
    ) async throws -> Bool {
        let wasThere = Guarded(false)
        do {
            _ = try await exchange(store) { _ in
                let found = try await store.recordRefreshIntent(for: credential)
                wasThere.withLock { $0 = found }
                guard let next else { throw Planned() }
                return next
            }
        } catch is Planned {
            // The answer was lost.
        }
        return wasThere.withLock { $0 }
    }

    private func intentIsLeftBehind(_ store: any RefreshIntentRecording) async throws {
        let tokens = credential(1)
        try await save(tokens, in: store)
        findings.expect(!(try await refresh(store, of: tokens)), "the first refresh found an intent")
        expect(try await load(store), tokens, "after an intent was recorded")
        findings.expect(try await refresh(store, of: tokens), "the next refresh found no intent")
        guard isShared, let other = try await self.store() as? any RefreshIntentRecording else { return }
        findings.expect(try await refresh(other, of: tokens), "the next refresh of another object found no intent")
    }

    private func intentIsRemoved(_ store: any RefreshIntentRecording) async throws {
        let tokens = credential(1)
        try await save(tokens, in: store)
        _ = try await refresh(store, of: tokens)
        _ = try await exchange(store) { old in
            await store.removeRefreshIntent(for: tokens)
            return old
        }
        expect(try await load(store), tokens, "after an intent was removed")
        findings.expect(!(try await refresh(store, of: tokens)), "an intent that was removed was found")
    }

    private func intentEndsWithItsTokens(_ store: any RefreshIntentRecording) async throws {
        let first = credential(1)
        var second = credential(2)
        try await save(first, in: store)
        _ = try await refresh(store, of: first, answeredBy: second)
        findings.expect(!(try await refresh(store, of: second)), "an intent outlived a refresh that stored tokens")
        // Another sign-in.
        try await save(credential(3), in: store)
        findings.expect(
            !(try await refresh(store, of: credential(3), answeredBy: second)), "an intent outlived a write of tokens")
        // A server that doesn't replace refresh tokens.
        for number in 4...5 {
            let tokens = second
            second = TokenCredential(
                accessToken: credential(number).accessToken, expiresAt: tokens.expiresAt,
                refreshToken: tokens.refreshToken)
            findings.expect(
                !(try await refresh(store, of: tokens, answeredBy: second)),
                "an intent outlived a refresh that stored the same refresh token")
        }
    }
}
