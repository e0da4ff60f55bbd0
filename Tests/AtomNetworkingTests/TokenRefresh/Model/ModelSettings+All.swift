import Testing

extension ModelSettings: CustomTestStringConvertible {
    var testDescription: String { name }

    static let all: [ModelSettings] = [
        time, cancellations, rejection, slots, failures, signing, outside, nextUser, refusals, stubbornStore,
        newAccess, everything, reading, sharedStore, sharedStoreAndTime, signingInStore, stubbornStoreOfItsOwn,
        clientCredentials, provider, slotsAndNews, twoPeople, twoPeopleInVariable, twoPeopleAndTheApp,
        twoPeopleWithConstantTokens,
        twoPeopleInVariableWithConstantTokens, silence, silenceInStore, pauses, noLifetime, overdue, overdueInStore,
        overdueWithConstantTokens,
    ]

    static let silence = ModelSettings(
        name: "three requests, and early refreshes that are silent", requests: 3,
        disturbances: [.refreshFails, .revokeAccess], limit: 1, timeSteps: 2, deadlines: [100_000, 34])

    static let silenceInStore = ModelSettings(
        name: "two requests, a store, and early refreshes that are silent", requests: 2,
        disturbances: [.otherRefreshes, .signIn, .signOut, .refreshFails], limit: 1, timeSteps: 2,
        deadlines: [34], hasStore: true)

    static let pauses = ModelSettings(
        name: "three requests, a server that refuses every token, and pauses", requests: 3, timeSteps: 1,
        refusesEverything: true, fruitlessLimit: 3)

    static let noLifetime = ModelSettings(
        name: "three requests and tokens without a lifetime", requests: 3,
        disturbances: [.revokeAccess, .signIn, .signInAgain], limit: 2, timeSteps: 1, saysNoLifetime: true)

    static let overdue = ModelSettings(
        name: "two requests, refreshes that are answered late, and the app's variable", requests: 2,
        disturbances: [.refreshIsOverdue, .revokeAccess, .signOut, .outsideEmpties, .outsideBack], limit: 3,
        timeSteps: 1, firstLife: 0)

    static let overdueInStore = ModelSettings(
        name: "two requests, refreshes that are answered late, and a store", requests: 2,
        disturbances: [.refreshIsOverdue, .otherRefreshes, .signOut, .signInOther, .revokeSession], limit: 2,
        timeSteps: 1, hasStore: true, firstLife: 0)

    static let overdueWithConstantTokens = ModelSettings(
        name: "two requests, refreshes that are answered late, and a server that doesn't rotate", requests: 2,
        disturbances: [.refreshIsOverdue, .outsideOther, .outsideBack, .signOut], limit: 3, timeSteps: 1,
        rotates: false, firstLife: 0)

    static let twoPeople = ModelSettings(
        name: "two requests, two people and a store that other processes use", requests: 2,
        disturbances: [.outsideOther, .outsideBack, .revokeAccess, .outsideEmpties], limit: 3, timeSteps: 1,
        hasStore: true)

    static let twoPeopleInVariable = ModelSettings(
        name: "two requests, two people and the app's variable", requests: 2,
        disturbances: [.outsideOther, .outsideBack, .revokeAccess, .outsideEmpties], limit: 3, timeSteps: 1)

    static let twoPeopleAndTheApp = ModelSettings(
        name: "two requests and two people who sign in and out by the app", requests: 2,
        disturbances: [.signInOther, .signInBack, .signInAgain, .signOut, .outsideBack, .revokeAccess], limit: 3,
        hasStore: true)

    static let twoPeopleWithConstantTokens = ModelSettings(
        name: "two requests, two people, a store, and a server that doesn't rotate", requests: 2,
        disturbances: [.outsideOther, .outsideBack, .signOut, .revokeAccess], limit: 3, hasStore: true,
        rotates: false)

    static let twoPeopleInVariableWithConstantTokens = ModelSettings(
        name: "two requests, two people, the app's variable, and a server that doesn't rotate", requests: 2,
        disturbances: [.outsideOther, .outsideBack, .signOut, .signInBack, .revokeAccess], limit: 3, timeSteps: 1,
        rotates: false)

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

    static let slotsAndNews = ModelSettings(
        name: "three requests, slots, and news that somebody else reads", requests: 3,
        disturbances: [.outsideRenews], limit: 2, timeSteps: 1, slots: true)

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

    static let newAccess = ModelSettings(
        name: "two requests, a server that doesn't rotate, and somebody else who refreshes", requests: 2,
        disturbances: [.outsideNewAccess, .revokeSession, .revokeAccess], limit: 3, timeSteps: 1, rotates: false,
        firstLife: 0)

    static let reading = ModelSettings(
        name: "three requests and a store that is read first", requests: 3,
        disturbances: [.loadingFails, .signIn, .signOut, .cancel], limit: 2, hasStore: true)

    static let sharedStore = ModelSettings(
        name: "two requests and a store that other processes use", requests: 2,
        disturbances: [.otherRefreshes, .outsideRenews, .outsideEmpties, .revokeAccess, .revokeSession], limit: 3,
        hasStore: true)

    static let sharedStoreAndTime = ModelSettings(
        name: "two requests, a shared store, failures and time", requests: 2,
        disturbances: [.otherRefreshes, .refreshFails, .answerLost, .exchangeFails, .revokeSession, .outsideEmpties],
        limit: 2, timeSteps: 2, hasStore: true)

    static let signingInStore = ModelSettings(
        name: "two requests, a store, sign-in and sign-out", requests: 2,
        disturbances: [.signIn, .signInAgain, .signOut, .revokeAccess, .writingFails], limit: 3, hasStore: true)

    static let stubbornStoreOfItsOwn = ModelSettings(
        name: "two requests and a shared store that can't be written at times", requests: 2,
        disturbances: [.writingFails, .otherRefreshes, .outsideRenews, .outsideEmpties, .revokeAccess], limit: 3,
        hasStore: true)

    static let clientCredentials = ModelSettings(
        name: "two requests and a client's own session", requests: 2,
        disturbances: [.revokeAccess, .outsideEmpties, .outsideRenews, .refreshFails, .revokeSession, .writingFails],
        limit: 3, hasStore: true, renewal: .clientCredentials, isStoreEmpty: true)

    static let provider = ModelSettings(
        name: "two requests and the app's provider", requests: 2,
        disturbances: [
            .revokeAccess, .outsideEmpties, .outsideRenews, .refreshFails, .revokeSession, .signIn, .signOut,
            .exchangeFails, .writingFails,
        ], limit: 2, timeSteps: 1, hasStore: true, renewal: .provider, isStoreEmpty: true)

    static let everything = ModelSettings(
        name: "two requests and everything", requests: 2,
        disturbances: [
            .cancel, .refreshFails, .retryAfter, .answerLost, .signIn, .signOut, .outsideRenews, .outsideEmpties,
            .outsideProlongs, .outsideNewRefreshToken, .revokeAccess, .revokeSession,
        ], limit: 2, timeSteps: 1, deadlines: [100_000, 15], readsApart: true)
}

extension PlantedBug {
    /// Those that the shortest ways don't show.
    private static let deep: Set<PlantedBug> = [
        .deadTokenIsForgotten, .outdatedRefreshIsWritten, .signedBeforeWhoCameEarlier, .signInIsWrittenOverItsRefresh,
        .writeIsNotQueued, .dropsWhatTheStoreSaysAfterARefresh, .pauseIsIgnored,
        .signInDoesNotClear, .signOutRevokesWhatItFinds,
    ]

    static let inExtent = allCases.filter { TestExtent.isWhole || !deep.contains($0) }

    /// Where it can show.
    var settings: ModelSettings {
        switch self {
        case .releaseBeforeStore, .newcomersOvertakeTheReleased, .releaseIsForgotten,
            .credentialIsStoredTwice:
            .time
        case .cancelLosesAnotherWaiter, .cancellationStopsTheRefresh: .cancellations
        case .secondRefreshOnLate401, .acceptedTokensCountAsFruitless, .lastInFirstOut: .rejection
        case .deadTokenIsSent, .placeIsLostWithTheToken: .slots
        case .failureReleasesWaiters, .wakeUpIsForgotten, .refusalIsToldTwice, .earlyFailureRefusesWaiters,
            .transientFailureEndsTheSession, .backOffIsIgnored:
            .failures
        case .refreshAfterSignOutIsStored, .outdatedRefreshAllowsASecond, .olderGenerationIsSigned,
            .signOutLeavesWaiters:
            .signing
        case .dropsWhatTheStoreSaysAfterARefresh, .staleReadIsTaken: .outside
        case .windowIsIgnored: .refusals
        case .silenceIsIgnored: .silence
        case .pauseIsIgnored: .pauses
        case .lifetimeIsBelieved: .noLifetime
        case .signInDoesNotClear: .noLifetime
        case .signOutRevokesWhatItFinds: .twoPeopleAndTheApp
        case .refillIsRevoked: .overdue
        case .overdueAnswerIsDropped: .overdue
        case .overdueIsNotWaitedFor: .overdueInStore
        case .writtenOverIsNews: .newAccess
        case .spentTokenIsForgotten: .twoPeopleInVariable
        case .deadTokenIsForgotten: .twoPeople
        case .signedBeforeWhoCameEarlier: .slots
        case .lateLoadIsTaken: .reading
        case .newsOfARefusalIsLost: .newAccess
        case .whatARefreshFindsIsIgnored, .emptyStoreIsIgnored, .endsWithoutReading, .refusalOfAnOldTokenEnds:
            .sharedStore
        case .signInIsWrittenOverItsRefresh, .signInIsNotWritten, .writeIsNotQueued, .outdatedRefreshIsWritten:
            .signingInStore
        case .unwrittenIsForgotten, .unwrittenGoesBeforeNewer: .stubbornStoreOfItsOwn
        }
    }
}
