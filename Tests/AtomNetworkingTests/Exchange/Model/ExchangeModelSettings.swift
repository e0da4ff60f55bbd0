import Testing

@testable import AtomNetworking

/// What can happen in a world of two exchanges over one slot.
struct ExchangeModelSettings: Sendable, CustomTestStringConvertible {
    /// What a server answers.
    enum Head: Int, Hashable, Sendable {
        case ok = 200
        case unauthorized = 401
        case redirect = 302
        case busy = 503
        /// Busy until long after every deadline.
        case busyForLong = 429

        var isBusy: Bool { self == .busy || self == .busyForLong }
    }

    enum Part: Hashable, Sendable {
        case small
        /// More than is read of an unwanted response.
        case big
        /// The sink can't take it.
        case refused
        /// The sink of a file wants another response instead.
        case ofAnotherFile
    }

    /// How a refresh ends.
    enum Renewal: Hashable, Sendable {
        case renewed
        case failed
        /// There is nothing to refresh with.
        case missing
    }

    var name: String
    /// Whether each exchange is signed by the session.
    var signed: [Bool] = [true, true]
    /// Whether each exchange's response goes to a reader with its own pace.
    var streamed: [Bool] = [false, false]
    /// How often a reader doesn't keep up.
    var pausesLeft = 0
    var heads: [Head] = [.ok]
    var parts: [Part] = []
    /// How many parts come in all.
    var partsLeft = 0
    var redirectsLeft = 0
    /// The redirects that the policy follows.
    var redirectLimit = 1
    /// How often a server is busy.
    var busyLeft = 0
    /// Whether each exchange may be sent again after the server may have got it.
    var idempotent: [Bool] = [true, true]
    /// How many retries the quota has.
    var quota = 0
    /// How often the app signs out, and somebody else in.
    var signOutsLeft = 0
    /// How many attempts the transport loses.
    var failuresLeft = 0
    var renewals: [Renewal] = [.renewed]
    /// How many callers cancel.
    var cancellationsLeft = 0
    /// How many exchanges run out of time.
    var expiriesLeft = 0
    /// How often the clock rings too early.
    var earlyRingsLeft = 0
    /// How often a token dies by itself.
    var deathsLeft = 0
    /// Whether they take slots.
    var takesSlots = true

    var testDescription: String { name }

    static let all = [
        ExchangeModelSettings(name: "answers and a lost attempt", failuresLeft: 1, cancellationsLeft: 1),
        ExchangeModelSettings(
            name: "401s and refreshes", heads: [.ok, .unauthorized], renewals: [.renewed, .failed]),
        ExchangeModelSettings(
            name: "401s while callers leave", signed: [true, false], heads: [.ok, .unauthorized],
            cancellationsLeft: 1),
        ExchangeModelSettings(
            name: "401s while time runs out", signed: [true, false], heads: [.ok, .unauthorized], expiriesLeft: 1,
            earlyRingsLeft: 1),
        ExchangeModelSettings(
            name: "401s with long bodies", signed: [true, false], heads: [.ok, .unauthorized],
            parts: [.small, .big, .refused], partsLeft: 2, failuresLeft: 1, renewals: [.renewed, .missing]),
        ExchangeModelSettings(
            name: "401s that nothing can be done about", heads: [.ok, .unauthorized], parts: [.small],
            partsLeft: 1, renewals: [.missing], cancellationsLeft: 1),
        ExchangeModelSettings(
            name: "redirects", signed: [true, false], heads: [.ok, .redirect], parts: [.big], partsLeft: 1,
            redirectsLeft: 2, cancellationsLeft: 1),
        ExchangeModelSettings(
            name: "redirects while time runs out", signed: [false, false], heads: [.ok, .redirect],
            redirectsLeft: 2, redirectLimit: 0, expiriesLeft: 1, earlyRingsLeft: 1),
        ExchangeModelSettings(name: "a token that dies in the lane", cancellationsLeft: 1, deathsLeft: 1),
        ExchangeModelSettings(
            name: "no slots", signed: [true, false], heads: [.ok, .unauthorized], failuresLeft: 1,
            cancellationsLeft: 1, takesSlots: false),
        ExchangeModelSettings(
            name: "a slow reader while time runs out", signed: [true, false], streamed: [true, false], pausesLeft: 1,
            parts: [.small], partsLeft: 1, expiriesLeft: 1, earlyRingsLeft: 1),
        ExchangeModelSettings(
            name: "slow readers that leave, and lost streams", signed: [true, false], streamed: [true, true],
            pausesLeft: 1, parts: [.refused], partsLeft: 1, failuresLeft: 1, cancellationsLeft: 1),
        ExchangeModelSettings(
            name: "busy servers while callers leave", signed: [true, false], heads: [.ok, .busy], busyLeft: 3, quota: 1,
            cancellationsLeft: 1),
        ExchangeModelSettings(
            name: "busy servers while people sign out", heads: [.ok, .busy], busyLeft: 1, quota: 1, signOutsLeft: 1),
        ExchangeModelSettings(
            name: "busy servers and 401s", signed: [true, false], heads: [.ok, .unauthorized, .busy], busyLeft: 1,
            quota: 1, renewals: [.renewed, .failed]),
        ExchangeModelSettings(
            name: "busy servers that want too much time", signed: [true, false], heads: [.ok, .busyForLong],
            busyLeft: 2, quota: 2),
        ExchangeModelSettings(
            name: "lost attempts that are sent again", signed: [true, false], idempotent: [true, false], quota: 2,
            failuresLeft: 2, expiriesLeft: 1, earlyRingsLeft: 1),
        ExchangeModelSettings(
            name: "streams that are lost before and after their heads", signed: [true, false],
            streamed: [true, false], quota: 2, failuresLeft: 2, cancellationsLeft: 1),
        ExchangeModelSettings(
            name: "files that are asked for again, and a 401", signed: [true, false], streamed: [true, false],
            heads: [.ok, .unauthorized], parts: [.ofAnotherFile], partsLeft: 1),
        ExchangeModelSettings(
            name: "files that are asked for again", signed: [true, false], streamed: [true, true],
            parts: [.small, .ofAnotherFile], partsLeft: 2, cancellationsLeft: 1),
        ExchangeModelSettings(
            name: "files that are asked for again while time runs out", signed: [true, false], streamed: [true, true],
            parts: [.ofAnotherFile], partsLeft: 1, failuresLeft: 1, expiriesLeft: 1, earlyRingsLeft: 1),
    ]
}

/// What an exchange's machine is given wrong, to see that the model finds it.
enum PlantedExchangeBug: String, CaseIterable, Sendable {
    case slotGivenBackTwice
    case slotKeptAtTheHead
    case slotKeptAtTheEnd
    case slotKeptByWhoHasLeft
    case toldTwice
    case lateEventCounts
    case deadlineLeftArmed
    case deadlineNeverArmed
    case deadlineChangesUnnumbered
    case retriedTwice
    case sentAfterItsEnd
    case queuedAfterItsEnd
    case standsInTheLaneAfterItsEnd
    case restReadForEver
    case notStopped
    case noticeKept
    case noticeTooEarly
    case bodyOfTheRejectionLost
    case sinkNeverEnded
    case sinkFailureIgnored
    case signedByWhoeverHasTheSlot
    case slotKeptByAStream
    case slowReaderCountsAsSilence
    case silenceUnwatchedAfterAPause
    case slotKeptInAPause
    case pauseNeverEnds
    case pauseCutShort
    case pauseEndKept
    case signOutIgnoredInAPause
    case retriedForEver
    case retriedUnpaid
    case quotaLost
    case retriedAfterTheDeadline
    case unsafeRequestRepeated
    case streamRepeated
    case retryOfAnOlderAttempt

    /// Those that the shortest ways don't show.
    private static let deep: Set<PlantedExchangeBug> = [
        .bodyOfTheRejectionLost, .lateEventCounts, .pauseEndKept, .retriedForEver, .retriedTwice, .retriedUnpaid,
        .retryOfAnOlderAttempt,
    ]

    static let inExtent = allCases.filter { TestExtent.isWhole || !deep.contains($0) }

    var settings: ExchangeModelSettings {
        func named(_ name: String) -> ExchangeModelSettings {
            ExchangeModelSettings.all.first { $0.name == name } ?? ExchangeModelSettings(name: "unknown: \(name)")
        }
        return switch self {
        case .slotGivenBackTwice, .slotKeptAtTheHead, .retriedTwice: named("401s and refreshes")
        case .slotKeptAtTheEnd, .toldTwice, .deadlineLeftArmed, .deadlineNeverArmed, .notStopped, .sinkNeverEnded:
            named("answers and a lost attempt")
        case .deadlineChangesUnnumbered, .slotKeptByWhoHasLeft, .sentAfterItsEnd, .queuedAfterItsEnd,
            .standsInTheLaneAfterItsEnd:
            named("401s while callers leave")
        case .lateEventCounts, .restReadForEver: named("redirects")
        case .noticeKept, .noticeTooEarly: named("401s that nothing can be done about")
        case .bodyOfTheRejectionLost, .sinkFailureIgnored: named("401s with long bodies")
        case .signedByWhoeverHasTheSlot: named("a token that dies in the lane")
        case .slotKeptByAStream, .slowReaderCountsAsSilence, .silenceUnwatchedAfterAPause:
            named("a slow reader while time runs out")
        case .slotKeptInAPause, .pauseNeverEnds, .retriedUnpaid, .quotaLost:
            named("busy servers while callers leave")
        case .pauseEndKept, .signOutIgnoredInAPause: named("busy servers while people sign out")
        case .retriedAfterTheDeadline: named("busy servers that want too much time")
        case .unsafeRequestRepeated, .pauseCutShort, .retriedForEver, .retryOfAnOlderAttempt:
            named("lost attempts that are sent again")
        case .streamRepeated: named("streams that are lost before and after their heads")
        }
    }
}
