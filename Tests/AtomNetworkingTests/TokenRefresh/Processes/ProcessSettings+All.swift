import Testing

extension ProcessSettings: CustomTestStringConvertible {
    var testDescription: String { name }

    static let all: [ProcessSettings] = [
        crashes, failures, signOuts, words, failedSignOuts, failedSignIns, refusedTokens, time, three, plain,
        plainWords,
    ]

    static let crashes = ProcessSettings(
        name: "two processes, crashes and lost answers", requests: 2, disturbances: [.crash, .lose], limit: 2)

    static let failures = ProcessSettings(
        name: "two processes, a server that isn't ready, and a lock that takes too long", requests: 2,
        disturbances: [.crash, .fail, .lockTimesOut], limit: 2)

    static let signOuts = ProcessSettings(
        name: "two processes, sign-outs, crashes and lost answers", disturbances: [.signOut, .crash, .lose], limit: 2)

    static let words = ProcessSettings(
        name: "two processes, sign-ins and sign-outs", disturbances: [.signIn, .signOut], limit: 2)

    static let failedSignOuts = ProcessSettings(
        name: "two processes, sign-outs, and a store that can't be written at times",
        disturbances: [.signOut, .writingFails], limit: 2)

    static let failedSignIns = ProcessSettings(
        name: "two processes, sign-ins, and a store that can't be written at times",
        disturbances: [.signIn, .writingFails], limit: 2)

    /// A part of others, for bugs that need no more.
    static let oneSignOut = ProcessSettings(name: "two processes and a sign-out", disturbances: [.signOut], limit: 1)

    static let refusedTokens = ProcessSettings(
        name: "two processes with good tokens that the server refuses", requests: 2,
        disturbances: [.revokeAccess, .crash, .lose], limit: 2, firstLife: ProcessWorld.life)

    static let time = ProcessSettings(
        name: "two processes and time", disturbances: [.time, .crash, .lose, .fail], limit: 4,
        firstLife: ProcessWorld.life)

    static let three = ProcessSettings(
        name: "three processes, a crash or a lost answer", processes: 3, disturbances: [.crash, .lose], limit: 1)

    static let plain = ProcessSettings(
        name: "two processes, a store without a lock, crashes and lost answers", requests: 2,
        disturbances: [.crash, .lose], limit: 2, isExclusive: false)

    static let plainWords = ProcessSettings(
        name: "two processes, sign-ins, sign-outs and a store without a lock",
        disturbances: [.signIn, .signOut, .crash], limit: 1, isExclusive: false)
}

extension ProcessBug {
    /// Those that the shortest ways don't show.
    private static let deep: Set<ProcessBug> = [.refusalRemovesTheNote, .retryReplacesAnything, .writtenOverIsNews]

    static let inExtent = allCases.filter { TestExtent.isWhole || !deep.contains($0) }

    /// Where it can show.
    var settings: ProcessSettings {
        switch self {
        case .lockIsSkipped, .lockOutlivesItsProcess, .storeIsNotReadAgain, .writesAfterTheRelease,
            .fileIsEmptiedFirst, .requestsGoBeforeTheWrite, .noteIsNotWritten, .noteIsIgnored, .refusalRemovesTheNote,
            .restartUsesWhatItKnew:
            .crashes
        case .retryReplacesAnything, .writtenOverIsNews, .loadForgetsTheSignOut: .failedSignOuts
        case .signOutLeavesWaiters, .signOutReadsBefore, .exchangeWritesForASignOut: .oneSignOut
        case .endsWithoutReading: .plain
        case .savesWithoutLooking: .plainWords
        }
    }
}
