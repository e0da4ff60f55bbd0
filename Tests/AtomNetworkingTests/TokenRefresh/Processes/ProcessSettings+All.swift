import Testing

extension ProcessSettings: CustomTestStringConvertible {
    var testDescription: String { name }

    static let all: [ProcessSettings] = [
        crashes, failures, signOuts, words, failedWrites, refusedTokens, time, three, plain, plainWords,
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

    static let failedWrites = ProcessSettings(
        name: "two processes, a sign-in or sign-out, and a store that can't be written at times",
        disturbances: [.signIn, .signOut, .writingFails], limit: 2)

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
        disturbances: [.signIn, .signOut], limit: 2, isExclusive: false)
}

extension ProcessBug {
    /// Where it can show.
    var settings: ProcessSettings {
        switch self {
        case .lockIsSkipped, .lockOutlivesItsProcess, .storeIsNotReadAgain, .writesAfterTheRelease,
            .fileIsEmptiedFirst, .noteIsNotWritten, .noteIsIgnored, .refusalRemovesTheNote, .restartUsesWhatItKnew:
            .crashes
        case .retryReplacesAnything, .writtenOverIsNews, .loadForgetsTheSignOut: .failedWrites
        case .lateAnswerIsWritten, .signOutLeavesWaiters, .signOutReadsBefore: .signOuts
        case .endsWithoutReading: .plain
        case .savesWithoutLooking: .plainWords
        }
    }
}
