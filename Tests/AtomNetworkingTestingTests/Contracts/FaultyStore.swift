import AtomNetworking
import AtomNetworkingTesting
import Foundation

/// A store with one planted fault.
final class FaultyStore: TokenCredentialStore {
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
        case isNotShared
        case isNotExclusive
        case saveDoesNotWait
        case waitsForever

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
            case .isNotShared: .sharedObjectsSeeTheSame
            case .isNotExclusive: .exchangesAreExclusive
            case .saveDoesNotWait: .savesWaitForExchanges
            case .waitsForever: .waitIsBounded
            }
        }

        var isShared: Bool {
            switch self {
            case .isNotShared, .isNotExclusive, .saveDoesNotWait, .waitsForever: true
            default: false
            }
        }
    }

    private struct Wrapped: Error {}

    private let fault: Fault
    private let base: any TokenCredentialStore
    private let isLocked = Shared(false)

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
        while isLocked.value { await Task.yield() }
        if fault == .isNotExclusive || fault == .overwrites || fault == .writesUnchanged {
            let old = try await load()
            let new = try await body(old)
            if new != old || fault == .writesUnchanged { try await base.save(new) }
            return new
        }
        if fault == .callsTwice { _ = try? await body(try await load()) }
        do {
            if fault == .doesNotStoreExchanges { return try await body(try await load()) }
            let old = try await load()
            let result = try await base.exchange { [fault] stored in
                let new = try await body(stored)
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
            default: throw error
            }
        }
    }
}

/// One place in memory for many objects, with a lock, as a store for several
/// processes has it.
actor SharedPlace {
    private var credential: TokenCredential?
    private var isHeld = false

    func acquire() -> Bool {
        defer { isHeld = true }
        return !isHeld
    }

    func release() { isHeld = false }
    func load() -> TokenCredential? { credential }
    func save(_ credential: TokenCredential?) { self.credential = credential }
}

/// A sound shared store, unless it is told to let writers through or to wait for
/// ever.
final class SharedPlaceStore: TokenCredentialStore {
    struct Busy: Error {}

    private let place: SharedPlace
    private let savesWait: Bool
    /// How often it asks for the lock.
    private let attempts: Int

    init(_ place: SharedPlace, savesWait: Bool = true, attempts: Int = 1_000_000) {
        (self.place, self.savesWait, self.attempts) = (place, savesWait, attempts)
    }

    private func locked<Result: Sendable>(_ body: () async throws -> Result) async throws -> Result {
        var attempt = 0
        while await !place.acquire() {
            attempt += 1
            guard attempt < attempts else { throw Busy() }
            try Task.checkCancellation()
            await Task.yield()
        }
        do {
            let result = try await body()
            await place.release()
            return result
        } catch {
            await place.release()
            throw error
        }
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
}
