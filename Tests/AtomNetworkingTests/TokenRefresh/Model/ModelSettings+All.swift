import Testing

extension ModelSettings: CustomTestStringConvertible {
    var testDescription: String { name }

    static let all: [ModelSettings] = [
        time, cancellations, rejection, slots, failures, signing, outside, nextUser, refusals, stubbornStore,
        everything,
    ]

    static let time = ModelSettings(name: "three requests and time", requests: 3, timeSteps: 2, readsApart: true)

    static let cancellations = ModelSettings(
        name: "four requests, an expired token, cancellations and deadlines", requests: 4, disturbances: [.cancel],
        limit: 2, timeSteps: 1, deadlines: [10, 10], firstLife: 0)

    static let rejection = ModelSettings(
        name: "four requests and rejected tokens", requests: 4, disturbances: [.revokeAccess], limit: 2,
        fruitlessLimit: 1)

    static let slots = ModelSettings(
        name: "three requests, a rejected token, cancellation, slots", requests: 3,
        disturbances: [.revokeAccess, .cancel], limit: 2, slots: true)

    static let failures = ModelSettings(
        name: "three requests and failures", requests: 3,
        disturbances: [.refreshFails, .retryAfter, .answerLost, .revokeSession], limit: 2, timeSteps: 2,
        deadlines: [100_000, 15])

    static let signing = ModelSettings(
        name: "three requests, sign-out and sign-in", requests: 3, disturbances: [.signIn, .signOut, .revokeAccess],
        limit: 2, timeSteps: 1)

    static let outside = ModelSettings(
        name: "three requests and changes from outside", requests: 3,
        disturbances: [.outsideRenews, .outsideEmpties, .outsideProlongs, .outsideNewRefreshToken, .revokeAccess],
        limit: 2, readsApart: true)

    static let nextUser = ModelSettings(
        name: "three requests, slots, and another user by way of the store", requests: 3,
        disturbances: [.outsideEmpties, .outsideRenews], limit: 2, slots: true)

    static let refusals = ModelSettings(
        name: "four requests and a server that refuses every token", requests: 4, refusesEverything: true)

    static let stubbornStore = ModelSettings(
        name: "three requests and a store that takes nothing", requests: 3,
        disturbances: [.revokeAccess, .refreshFails], limit: 2, timeSteps: 1, storeTakes: false)

    static let loading = ModelSettings(
        name: "three requests and a store that is loaded first", requests: 3,
        disturbances: [.loadingFails, .signIn, .signOut, .cancel], limit: 2, needsLoading: true)

    static let everything = ModelSettings(
        name: "two requests and everything", requests: 2,
        disturbances: [
            .cancel, .refreshFails, .retryAfter, .answerLost, .signIn, .signOut, .outsideRenews, .outsideEmpties,
            .outsideProlongs, .outsideNewRefreshToken, .revokeAccess, .revokeSession,
        ], limit: 2, timeSteps: 1, deadlines: [100_000, 15], readsApart: true)
}

extension PlantedBug {
    /// Where it can show.
    var settings: ModelSettings {
        switch self {
        case .releaseBeforeStore, .lastInFirstOut, .newcomersOvertakeTheReleased, .releaseIsForgotten,
            .credentialIsStoredTwice:
            .time
        case .cancelLosesAnotherWaiter, .cancellationStopsTheRefresh: .cancellations
        case .secondRefreshOnLate401, .acceptedTokensCountAsFruitless: .rejection
        case .deadTokenIsSent, .placeIsLostWithTheToken: .slots
        case .failureReleasesWaiters, .wakeUpIsForgotten, .refusalIsToldTwice, .earlyFailureRefusesWaiters,
            .transientFailureEndsTheSession, .backOffIsIgnored:
            .failures
        case .refreshAfterSignOutIsStored, .outdatedRefreshAllowsASecond, .olderGenerationIsSigned,
            .signOutLeavesWaiters:
            .signing
        case .dropsWhatTheStoreSaysAfterARefresh, .staleReadIsTaken: .outside
        case .windowIsIgnored: .refusals
        case .replacedTokenIsNewAgain: .stubbornStore
        }
    }
}
