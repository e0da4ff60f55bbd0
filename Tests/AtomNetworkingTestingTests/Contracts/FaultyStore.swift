import AtomNetworking
import AtomNetworkingTesting
import Foundation

/// A store with one planted fault.
final class FaultyStore: RefreshIntentRecording {
    enum Fault: String, CaseIterable, Sendable {
        case isNotEmpty
        case losesRefreshToken, losesScope, losesExpiry
        case keepsTheFirst
        case ignoresNil
        case returnsTheOld, doesNotStoreExchanges
        case exchangeKeepsAtNil
        case callsTwice
        case writesUnchanged
        case hidesErrors, storesInSpiteOfErrors, wrapsErrors
        case staysLocked
        case overwrites
        case isNotShared, staysWithItsFirst
        case isNotExclusive, locksOnlyItself
        case locksOnlyTokens
        case saveDoesNotWait
        case waitsForever
        case dropsCancelledResults
        case notesNothing, notesInMemory, findsWhatIsNew, forgetsAtErrors
        case keepsRemovedNotes
        case keepsNotes, keepsNotesOfTheSameToken

        /// The check that finds it.
        var check: TokenCredentialStoreContract.Check {
            switch self {
            case .isNotEmpty: .emptyAtFirst
            case .losesRefreshToken, .losesScope, .losesExpiry: .loadsWhatWasSaved
            case .keepsTheFirst: .saveReplaces
            case .ignoresNil: .nilClears
            case .returnsTheOld, .doesNotStoreExchanges: .exchangeStores
            case .exchangeKeepsAtNil: .exchangeClears
            case .callsTwice: .bodyIsCalledOnce
            case .writesUnchanged: .unchangedIsNotWritten
            case .hidesErrors, .storesInSpiteOfErrors, .wrapsErrors: .errorChangesNothing
            case .staysLocked: .cancellationChangesNothing
            case .overwrites: .savedMeanwhileStays
            case .isNotShared, .staysWithItsFirst: .sharedObjectsSeeTheSame
            case .isNotExclusive, .locksOnlyItself: .exchangesAreExclusive
            case .locksOnlyTokens: .emptyPlacesAreExclusive
            case .saveDoesNotWait: .savesWaitForExchanges
            case .waitsForever: .waitIsBounded
            case .dropsCancelledResults: .cancelledResultIsStored
            case .notesNothing, .notesInMemory, .findsWhatIsNew, .forgetsAtErrors: .intentIsLeftBehind
            case .keepsRemovedNotes: .intentIsRemoved
            case .keepsNotes, .keepsNotesOfTheSameToken: .intentEndsWithItsTokens
            }
        }

        /// Silence is found by any patience, and nothing else may be found by impatience.
        var patience: Duration {
            switch self {
            case .staysLocked, .waitsForever: .milliseconds(50)
            default: .seconds(120)
            }
        }

        /// Whether it is a fault of a shared store, or of its notes.
        var isShared: Bool {
            switch self {
            case .isNotEmpty, .losesRefreshToken, .losesScope, .losesExpiry, .keepsTheFirst, .ignoresNil,
                .returnsTheOld, .doesNotStoreExchanges, .exchangeKeepsAtNil, .callsTwice, .writesUnchanged,
                .hidesErrors, .storesInSpiteOfErrors, .wrapsErrors, .staysLocked, .overwrites:
                false
            default: true
            }
        }
    }

    private struct Wrapped: Error {}

    private let fault: Fault
    private let base: any TokenCredentialStore
    private let isLocked = Shared(false)
    /// What this object has read first, and the tokens whose refresh it has noted.
    private let first = Shared<TokenCredential?>(nil)
    private let noted = Shared<Set<String>>([])

    /// - Parameter base: A sound store.
    init(_ fault: Fault, _ base: any TokenCredentialStore) { (self.fault, self.base) = (fault, base) }

    func load() async throws -> TokenCredential? {
        let stored = try await base.load()
        guard fault != .isNotEmpty || stored != nil else {
            return TokenCredential(accessToken: "old", expiresAt: .distantFuture, refreshToken: "old")
        }
        return stored.map { stored in
            TokenCredential(
                accessToken: stored.accessToken,
                expiresAt: fault == .losesExpiry ? .distantPast : stored.expiresAt,
                refreshToken: fault == .losesRefreshToken ? "" : stored.refreshToken,
                scope: fault == .losesScope ? nil : stored.scope, tokenType: stored.tokenType, idToken: stored.idToken)
        }
    }

    func save(_ credential: TokenCredential?) async throws {
        if fault == .ignoresNil, credential == nil { return }
        if fault == .keepsTheFirst, try await base.load() != nil { return }
        try await base.save(credential)
    }

    func exchange(
        _ body: @Sendable (TokenCredential?) async throws -> TokenCredential?
    ) async throws -> TokenCredential? {
        if fault == .staysLocked, isLocked.value { await waitForEver() }
        while isLocked.value { await Task.yield() }
        if try await exchangesWithoutLock() {
            if fault == .locksOnlyItself { await lock() }
            defer { isLocked.change { $0 = false } }
            let old = try await load()
            let new = try await body(old)
            if new != old || fault == .writesUnchanged { try await base.save(new) }
            return new
        }
        if fault == .callsTwice { _ = try? await body(try await load()) }
        do {
            if fault == .doesNotStoreExchanges { return try await body(try await load()) }
            let old = try await load()
            let result = try await base.exchange { [fault, first] stored in
                if fault == .staysWithItsFirst { first.change { $0 = $0 ?? stored } }
                let new = try await body(fault == .staysWithItsFirst ? first.value : stored)
                if fault == .dropsCancelledResults { try Task.checkCancellation() }
                return fault == .exchangeKeepsAtNil && new == nil ? stored : new
            }
            return fault == .returnsTheOld ? old : fault == .exchangeKeepsAtNil ? nil : result
        } catch {
            switch fault {
            case .hidesErrors: return try await load()
            case .wrapsErrors: throw Wrapped()
            case .storesInSpiteOfErrors:
                try await base.save(nil)
                throw error
            case .staysLocked:
                isLocked.change { $0 = true }
                throw error
            case .forgetsAtErrors:
                if let stored = try await base.load() { await recording?.removeRefreshIntent(for: stored) }
                throw error
            default: throw error
            }
        }
    }

    private func exchangesWithoutLock() async throws -> Bool {
        switch fault {
        case .isNotExclusive, .locksOnlyItself, .overwrites, .writesUnchanged: true
        case .locksOnlyTokens: try await base.load() == nil
        default: false
        }
    }

    /// Nobody ends it, and it takes no time from other tests.
    private func waitForEver() async {
        await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
    }

    private func lock() async {
        while isLocked.change({ isLocked in
            defer { isLocked = true }
            return isLocked
        }) {
            await Task.yield()
        }
    }

    // MARK: - Notes

    private var recording: (any RefreshIntentRecording)? { base as? any RefreshIntentRecording }

    func recordRefreshIntent(for credential: TokenCredential) async throws -> Bool {
        let wasThere = try await recording?.recordRefreshIntent(for: credential) ?? false
        let wasNoted = noted.change { noted in !noted.insert(credential.refreshToken).inserted }
        let hasNoted = noted.change { noted in noted.count > 1 }
        return switch fault {
        case .notesNothing: false
        case .findsWhatIsNew: true
        case .notesInMemory, .keepsNotesOfTheSameToken: wasNoted
        case .keepsNotes: wasNoted || hasNoted
        default: wasThere
        }
    }

    func removeRefreshIntent(for credential: TokenCredential) async {
        if fault != .keepsRemovedNotes { await recording?.removeRefreshIntent(for: credential) }
    }
}

/// One place in memory for many objects, with a lock, as a store for several
/// processes has it.
actor SharedPlace {
    private var credential: TokenCredential?
    /// The refresh token that is about to be sent, until tokens are stored.
    private var noted: String?
    private var isHeld = false
    private var waiting: [UnsafeContinuation<Void, Never>] = []

    /// - Returns: Whether nobody has had the lock.
    func acquireAtOnce() -> Bool {
        defer { isHeld = true }
        return !isHeld
    }

    /// Waits for the lock as long as it takes.
    func acquire() async {
        guard !acquireAtOnce() else { return }
        await withUnsafeContinuation { waiting.append($0) }
    }

    func release() {
        if waiting.isEmpty { isHeld = false } else { waiting.removeFirst().resume() }
    }

    func load() -> TokenCredential? { credential }
    func save(_ credential: TokenCredential?) { (self.credential, noted) = (credential, nil) }

    func note(_ credential: TokenCredential) -> Bool {
        defer { noted = credential.refreshToken }
        return noted == credential.refreshToken
    }

    func removeNote() { noted = nil }
}

/// A sound shared store, unless it is told to let writers through or to wait for
/// ever.
final class SharedPlaceStore: RefreshIntentRecording {
    struct Busy: Error {}

    private let place: SharedPlace
    private let savesWait: Bool
    /// How often it asks for the lock; `nil` for one that waits for ever.
    private let attempts: Int?

    init(_ place: SharedPlace, savesWait: Bool = true, attempts: Int? = nil) {
        (self.place, self.savesWait, self.attempts) = (place, savesWait, attempts)
    }

    private func locked<Result: Sendable>(_ body: () async throws -> Result) async throws -> Result {
        try await acquire()
        do {
            let result = try await body()
            await place.release()
            return result
        } catch {
            await place.release()
            throw error
        }
    }

    private func acquire() async throws {
        guard let attempts else { return await place.acquire() }
        for _ in 0..<attempts {
            if await place.acquireAtOnce() { return }
            try Task.checkCancellation()
            await Task.yield()
        }
        throw Busy()
    }

    func load() async throws -> TokenCredential? { await place.load() }

    func save(_ credential: TokenCredential?) async throws {
        guard savesWait else { return await place.save(credential) }
        try await locked { await place.save(credential) }
    }

    func exchange(
        _ body: @Sendable (TokenCredential?) async throws -> TokenCredential?
    ) async throws -> TokenCredential? {
        try await locked {
            let old = await place.load()
            let new = try await body(old)
            if new != old { await place.save(new) }
            return new
        }
    }

    func recordRefreshIntent(for credential: TokenCredential) async throws -> Bool { await place.note(credential) }

    func removeRefreshIntent(for credential: TokenCredential) async { await place.removeNote() }
}
