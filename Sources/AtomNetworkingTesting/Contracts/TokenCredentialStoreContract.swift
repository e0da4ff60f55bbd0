import AtomNetworking
import Foundation

/// Checks whether a `TokenCredentialStore` does what its documentation demands.
///
/// ```swift
/// import AtomNetworking
/// import AtomNetworkingTesting
///
/// // In a test, with your store.
/// let report = await TokenCredentialStoreContract.check { _ in InMemoryTokenCredentialStore() }
/// try report.get()
/// ```
///
/// A store that several processes or machines share is made from the place that
/// the closure gets, and is checked with `isShared: true`: a second object of
/// the same place stands for another process. A store that conforms to
/// `RefreshIntentRecording` is checked for that too.
public enum TokenCredentialStoreContract {
    /// A check, named after what it demands.
    public enum Check: String, Sendable, Hashable, CaseIterable {
        /// A new store is empty.
        case emptyAtFirst
        /// What was saved is loaded, with all its parts.
        case loadsWhatWasSaved
        /// Saving replaces what was stored.
        case saveReplaces
        /// Saving `nil` removes what was stored, also where there is nothing.
        case nilClears
        /// An exchange hands over what is stored, stores the result and returns it.
        case exchangeStores
        /// An exchange that returns `nil` removes what was stored.
        case exchangeClears
        /// The body of an exchange is called once.
        case bodyIsCalledOnce
        /// An exchange that returns what it got writes nothing.
        case unchangedIsNotWritten
        /// An error in the body comes out, and nothing is stored.
        case errorChangesNothing
        /// A cancelled body changes nothing, and the store can be used again.
        case cancellationChangesNothing
        /// What somebody saves while an exchange runs stays, and is returned.
        case savedMeanwhileStays
        /// Of a store that is shared, another object sees what was saved.
        case sharedObjectsSeeTheSame
        /// Of a store that is shared, exchanges run one after the other.
        case exchangesAreExclusive
        /// Of a store that is shared, exchanges run one after the other also where there are no tokens.
        case emptyPlacesAreExclusive
        /// Of a store that is shared, nobody saves while an exchange runs.
        case savesWaitForExchanges
        /// Of a store that is shared, the wait for its lock ends.
        case waitIsBounded
        /// Of a store that is shared, the result of a body that was cancelled is stored.
        case cancelledResultIsStored
        /// Of a `RefreshIntentRecording`, an intent is found by the next refresh, also after an error.
        case intentIsLeftBehind
        /// Of a `RefreshIntentRecording`, an intent that was removed isn't found.
        case intentIsRemoved
        /// Of a `RefreshIntentRecording`, an intent isn't found when other tokens have been stored.
        case intentEndsWithItsTokens

        /// What the documentation of `TokenCredentialStore` demands, in one sentence.
        public var requirement: String {
            switch self {
            case .emptyAtFirst: "`load` returns `nil` when there are no tokens."
            case .loadsWhatWasSaved: "`load` returns what `save` has stored."
            case .saveReplaces: "`save` stores tokens in place of the old ones."
            case .nilClears: "`save` of `nil` removes the tokens."
            case .exchangeStores: "`exchange` hands over the stored tokens, stores the result and returns it."
            case .exchangeClears: "`exchange` removes the tokens when its body returns `nil`."
            case .bodyIsCalledOnce: "`exchange` calls its body once."
            case .unchangedIsNotWritten: "`exchange` writes nothing if the result equals the stored tokens."
            case .errorChangesNothing: "`exchange` throws the error of its body, and the old tokens stay."
            case .cancellationChangesNothing: "A cancelled exchange changes nothing, and frees the store."
            case .savedMeanwhileStays:
                "Tokens that are saved while an exchange runs stay, and the exchange returns them."
            case .sharedObjectsSeeTheSame: "All objects of a shared store see the same tokens."
            case .exchangesAreExclusive: "A shared store runs one exchange at a time, and loses no result."
            case .emptyPlacesAreExclusive: "A shared store can be locked when it is empty."
            case .savesWaitForExchanges: "A shared store lets nobody save while an exchange runs."
            case .waitIsBounded: "A shared store limits the wait for its lock, and throws then."
            case .cancelledResultIsStored:
                "A shared store writes the result of an exchange, even if its task has been cancelled."
            case .intentIsLeftBehind:
                "`recordRefreshIntent` returns whether there was already such a note, which survives an error."
            case .intentIsRemoved: "`removeRefreshIntent` removes the note."
            case .intentEndsWithItsTokens: "A note is invalid when another credential has been stored."
            }
        }

        var isForShared: Bool {
            switch self {
            case .sharedObjectsSeeTheSame, .exchangesAreExclusive, .emptyPlacesAreExclusive, .savesWaitForExchanges,
                .waitIsBounded, .cancelledResultIsStored:
                true
            default: false
            }
        }

        /// A shared store may keep others from saving in the meantime.
        var isForUnshared: Bool { self == .savedMeanwhileStays || self == .unchangedIsNotWritten }
    }

    /// Runs checks, one after the other.
    ///
    /// - Parameters:
    ///   - checks: Which checks; all by default, of which those for shared stores, or those for others, are left out.
    ///   - excluded: Checks that are left out. Say in your test why.
    ///   - isShared: Whether the store promises exclusive access to all objects of one place.
    ///   - patience: How long a call may take, and the limit of a wait for the lock. Only ``Check/waitIsBounded`` waits
    ///     for that limit: make a store with a short one.
    ///   - make: Makes an object for a place, which is a name without meaning: a part of a file's name, or of a key.
    ///     Two objects of one place share their tokens if the store is shared. Each place is empty at first.
    /// - Returns: The result of each check, in the order of ``Check``.
    public static func check(
        _ checks: Set<Check> = Set(Check.allCases), except excluded: Set<Check> = [], isShared: Bool = false,
        patience: Duration = .seconds(30),
        _ make: @escaping @Sendable (_ place: String) async throws -> any TokenCredentialStore
    ) async -> ContractReport {
        var findings: [ContractReport.Finding] = []
        for check in Check.allCases where checks.contains(check) && !excluded.contains(check) {
            guard isShared ? !check.isForUnshared : !check.isForShared else { continue }
            let trial = StoreTrial(isShared: isShared, patience: patience, make: make)
            do {
                try await trial.run(check)
            } catch {
                trial.findings.note("the store failed: \(error)")
            }
            findings.append(trial.findings.finding(check.rawValue, check.requirement))
        }
        return ContractReport(subject: "TokenCredentialStore", findings: findings)
    }
}
