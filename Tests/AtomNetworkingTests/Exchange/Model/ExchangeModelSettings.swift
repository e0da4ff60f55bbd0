import Testing

@testable import AtomNetworking

/// What can happen in a world of two exchanges.
struct ExchangeModelSettings: Sendable, CustomTestStringConvertible {
    /// What a server answers.
    enum Head: Int, Hashable, Sendable {
        case ok = 200
        case unauthorized = 401
        case redirect = 302
        /// To another origin, and from there back.
        case redirectElsewhere = 307
        case busy = 503
        /// Busy until long after every deadline.
        case busyForLong = 429

        var isRedirect: Bool { self == .redirect || self == .redirectElsewhere }
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
    /// How many callers may share the first exchange, and how many of them leave.
    var callers = 1
    var leavesLeft = 0
    /// How many attempts are lost because there is no network.
    var offlineLeft = 0
    /// Whether they take slots, and how many each origin has.
    var takesSlots = true
    var slots = 1

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
            name: "callers that share, and leave", signed: [true, false], failuresLeft: 1, callers: 3, leavesLeft: 2),
        ExchangeModelSettings(
            name: "callers that share a 401", signed: [true, false], heads: [.ok, .unauthorized],
            renewals: [.renewed, .failed], callers: 2, leavesLeft: 2),
        ExchangeModelSettings(
            name: "no network while callers leave", signed: [true, false], idempotent: [true, false],
            cancellationsLeft: 1, offlineLeft: 2),
        ExchangeModelSettings(
            name: "no network while people sign out, or time runs out", signOutsLeft: 1, expiriesLeft: 1,
            offlineLeft: 1),
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
            parts: [.ofAnotherFile], partsLeft: 1, failuresLeft: 1, expiriesLeft: 1),
        ExchangeModelSettings(
            name: "redirects to another origin, and back", signed: [true, false], heads: [.ok, .redirectElsewhere],
            redirectsLeft: 2, redirectLimit: 2, cancellationsLeft: 1),
        ExchangeModelSettings(
            name: "redirects to another origin, and tokens that die", heads: [.ok, .redirectElsewhere],
            redirectsLeft: 2, renewals: [.renewed, .failed], deathsLeft: 1, slots: 2),
        ExchangeModelSettings(
            name: "busy servers at both origins", signed: [false, false], heads: [.ok, .busy, .redirectElsewhere],
            redirectsLeft: 1, busyLeft: 2, quota: 1),
    ]
}

/// What an exchange's machine is given wrong, to see that the model finds it.
struct PlantedExchangeBug: Sendable, Equatable, CustomTestStringConvertible {
    enum Manner: String, Sendable {
        case leftOut = "left out"
        case doubled
        case late = "done late"
    }

    let name: String
    private let settingsName: String
    /// What is done wrong with a command.
    let tampering: Tampering?
    /// Whether the shortest ways don't show it.
    var isDeep = false

    struct Tampering: Sendable, Equatable {
        let manner: Manner
        let kind: ExchangeMachine.Command.Kind
        /// The event with which it is done wrong, and whether the exchange has ended; `nil` for any.
        var event: String?
        var isEnded: Bool?
    }

    var testDescription: String { name }

    func concerns(_ event: ModelledExchange.Event, isEnded: Bool) -> Bool {
        guard let tampering else { return false }
        if let wanted = tampering.isEnded, wanted != isEnded { return false }
        return tampering.event.map { "\(event)".hasPrefix($0) } ?? true
    }

    private init(_ name: String, in settings: String, isDeep: Bool = false) {
        self.name = name
        settingsName = settings
        tampering = nil
        self.isDeep = isDeep
    }

    private init(
        _ kind: ExchangeMachine.Command.Kind, _ manner: Manner, in settings: String, after event: String? = nil,
        isEnded: Bool? = nil,
        isDeep: Bool = false
    ) {
        name = "\(kind.rawValue) \(manner.rawValue)" + (event.map { " after \($0)" } ?? "")
        settingsName = settings
        tampering = Tampering(manner: manner, kind: kind, event: event, isEnded: isEnded)
        self.isDeep = isDeep
    }

    var settings: ExchangeModelSettings {
        ExchangeModelSettings.all.first { $0.name == settingsName }
            ?? ExchangeModelSettings(name: "unknown: \(settingsName)")
    }

    static let toldTwice = PlantedExchangeBug("toldTwice", in: "answers and a lost attempt")
    static let lateEventCounts = PlantedExchangeBug("lateEventCounts", in: "redirects", isDeep: true)
    static let deadlineChangesUnnumbered = PlantedExchangeBug(
        "deadlineChangesUnnumbered", in: "401s while callers leave")
    static let retriedTwice = PlantedExchangeBug("retriedTwice", in: "401s and refreshes", isDeep: true)
    static let sentAfterItsEnd = PlantedExchangeBug("sentAfterItsEnd", in: "401s while callers leave")
    static let statusLost = PlantedExchangeBug("statusLost", in: "401s with long bodies")
    static let sinkFailureIgnored = PlantedExchangeBug(
        "sinkFailureIgnored", in: "slow readers that leave, and lost streams")
    static let signedByWhoeverHasTheSlot = PlantedExchangeBug(
        "signedByWhoeverHasTheSlot", in: "a token that dies in the lane")
    static let slowReaderCountsAsSilence = PlantedExchangeBug(
        "slowReaderCountsAsSilence", in: "a slow reader while time runs out")
    static let pauseCutShort = PlantedExchangeBug("pauseCutShort", in: "lost attempts that are sent again")
    static let signOutIgnoredInAPause = PlantedExchangeBug(
        "signOutIgnoredInAPause", in: "busy servers while people sign out")
    static let retriedForEver = PlantedExchangeBug(
        "retriedForEver", in: "lost attempts that are sent again", isDeep: true)
    static let retriedUnpaid = PlantedExchangeBug(
        "retriedUnpaid", in: "busy servers while callers leave", isDeep: true)
    static let retriedAfterTheDeadline = PlantedExchangeBug(
        "retriedAfterTheDeadline", in: "busy servers that want too much time")
    static let joinedAfterItsEnd = PlantedExchangeBug("joinedAfterItsEnd", in: "callers that share, and leave")
    static let unsafeRequestRepeated = PlantedExchangeBug(
        "unsafeRequestRepeated", in: "lost attempts that are sent again")
    static let tokenGoesAlong = PlantedExchangeBug(
        "tokenGoesAlong", in: "redirects to another origin, and back")
    static let slotGoesBackWhereTheExchangeIs = PlantedExchangeBug(
        "slotGoesBackWhereTheExchangeIs", in: "redirects to another origin, and back")
    static let slotInHandForgotten = PlantedExchangeBug(
        "slotInHandForgotten", in: "redirects to another origin, and tokens that die", isDeep: true)
    static let streamRepeated = PlantedExchangeBug(
        "streamRepeated", in: "streams that are lost before and after their heads")

    private static let all: [PlantedExchangeBug] = [
        toldTwice, lateEventCounts, deadlineChangesUnnumbered, retriedTwice, sentAfterItsEnd, statusLost,
        sinkFailureIgnored,
        signedByWhoeverHasTheSlot, slowReaderCountsAsSilence, pauseCutShort, signOutIgnoredInAPause, retriedForEver,
        retriedUnpaid, retriedAfterTheDeadline, unsafeRequestRepeated, streamRepeated, joinedAfterItsEnd,
        tokenGoesAlong,
        slotGoesBackWhereTheExchangeIs, slotInHandForgotten,
        // The session and its queue.
        PlantedExchangeBug(.askSession, .leftOut, in: "401s and refreshes"),
        PlantedExchangeBug(.askSessionWithSlot, .leftOut, in: "a token that dies in the lane"),
        PlantedExchangeBug(.askSessionWithSlot, .doubled, in: "a token that dies in the lane"),
        PlantedExchangeBug(.askSession, .doubled, in: "401s and refreshes"),
        PlantedExchangeBug(.leaveSession, .leftOut, in: "401s while callers leave"),
        PlantedExchangeBug(.tokenAccepted, .leftOut, in: "401s and refreshes"),
        PlantedExchangeBug(.tokenAccepted, .doubled, in: "401s and refreshes"),
        PlantedExchangeBug(.tokenAccepted, .late, in: "files that are asked for again"),
        PlantedExchangeBug(.tokenRejected, .doubled, in: "401s and refreshes"),
        PlantedExchangeBug(.tokenRejected, .leftOut, in: "401s and refreshes"),
        PlantedExchangeBug(.tokenRejected, .late, in: "401s and refreshes"),
        PlantedExchangeBug(.releaseNotice, .leftOut, in: "401s that nothing can be done about"),
        PlantedExchangeBug(.releaseNotice, .doubled, in: "401s that nothing can be done about"),
        // The lane.
        PlantedExchangeBug(.enterLane, .leftOut, in: "answers and a lost attempt"),
        PlantedExchangeBug(.enterLane, .doubled, in: "answers and a lost attempt"),
        PlantedExchangeBug(.leaveLane, .leftOut, in: "401s while callers leave"),
        PlantedExchangeBug(.giveSlotBack, .leftOut, in: "401s and refreshes", after: "head"),
        PlantedExchangeBug(.giveSlotBack, .leftOut, in: "answers and a lost attempt", after: "finished"),
        PlantedExchangeBug(.giveSlotBack, .leftOut, in: "answers and a lost attempt", after: "failed"),
        PlantedExchangeBug(
            .giveSlotBack, .leftOut, in: "401s while callers leave", after: "slotGranted", isEnded: true),
        PlantedExchangeBug(.giveSlotBack, .leftOut, in: "a slow reader while time runs out", after: "head"),
        PlantedExchangeBug(.giveSlotBack, .leftOut, in: "busy servers while callers leave", after: "paid"),
        PlantedExchangeBug(.giveSlotBack, .doubled, in: "401s and refreshes"),
        // The attempt.
        PlantedExchangeBug(.sign, .leftOut, in: "a token that dies in the lane"),
        PlantedExchangeBug(.sign, .doubled, in: "a token that dies in the lane"),
        PlantedExchangeBug(.send, .leftOut, in: "answers and a lost attempt"),
        PlantedExchangeBug(.send, .doubled, in: "answers and a lost attempt"),
        PlantedExchangeBug(.look, .leftOut, in: "401s while time runs out"),
        PlantedExchangeBug(.look, .doubled, in: "401s while time runs out"),
        PlantedExchangeBug(.stop, .leftOut, in: "answers and a lost attempt"),
        PlantedExchangeBug(.limitRest, .leftOut, in: "redirects"),
        // The response.
        PlantedExchangeBug(.keepCookies, .leftOut, in: "redirects while time runs out"),
        PlantedExchangeBug(.keepCookies, .doubled, in: "redirects while time runs out"),
        PlantedExchangeBug(.keepCookies, .late, in: "redirects while time runs out"),
        PlantedExchangeBug(.openDestination, .doubled, in: "files that are asked for again while time runs out"),
        PlantedExchangeBug(.openDestination, .leftOut, in: "a slow reader while time runs out"),
        PlantedExchangeBug(.keepPart, .leftOut, in: "a slow reader while time runs out"),
        PlantedExchangeBug(.keepPart, .doubled, in: "401s with long bodies"),
        PlantedExchangeBug(.dropPart, .leftOut, in: "redirects"),
        PlantedExchangeBug(.keepBody, .doubled, in: "401s and refreshes"),
        PlantedExchangeBug(.keepBody, .leftOut, in: "401s with long bodies", isDeep: true),
        PlantedExchangeBug(.abandonBody, .leftOut, in: "answers and a lost attempt"),
        PlantedExchangeBug(.deliver, .leftOut, in: "answers and a lost attempt"),
        PlantedExchangeBug(.deliver, .doubled, in: "answers and a lost attempt"),
        PlantedExchangeBug(.deliverPart, .leftOut, in: "401s with long bodies"),
        PlantedExchangeBug(.deliverPart, .doubled, in: "401s with long bodies"),
        PlantedExchangeBug(.tell, .leftOut, in: "answers and a lost attempt"),
        PlantedExchangeBug(.tell, .doubled, in: "answers and a lost attempt"),
        PlantedExchangeBug(.tell, .leftOut, in: "callers that share, and leave", after: "cancelled"),
        // Another attempt.
        PlantedExchangeBug(.payForRetry, .leftOut, in: "busy servers while callers leave"),
        PlantedExchangeBug(.giveBack, .leftOut, in: "busy servers while callers leave"),
        PlantedExchangeBug(.giveBack, .doubled, in: "busy servers while callers leave"),
        PlantedExchangeBug(.pause, .leftOut, in: "busy servers while callers leave"),
        PlantedExchangeBug(
            .leavePause, .leftOut, in: "busy servers while people sign out", after: "ring", isDeep: true),
        PlantedExchangeBug(.leavePause, .leftOut, in: "no network while callers leave"),
        // The deadline.
        PlantedExchangeBug(.setDeadline, .leftOut, in: "answers and a lost attempt", after: "slotGranted"),
        PlantedExchangeBug(.setDeadline, .leftOut, in: "busy servers while callers leave", after: "pauseNoted"),
        PlantedExchangeBug(
            .setDeadline, .leftOut, in: "a slow reader while time runs out", after: "pauseChanged(false"),
        PlantedExchangeBug(.removeDeadline, .leftOut, in: "answers and a lost attempt"),
        // The observers.
        PlantedExchangeBug(.noteRetry, .leftOut, in: "busy servers while callers leave"),
        PlantedExchangeBug(.noteRetry, .doubled, in: "busy servers while callers leave"),
        PlantedExchangeBug(.noteRetry, .late, in: "busy servers while callers leave"),
        PlantedExchangeBug(.noteRetryAfter, .leftOut, in: "401s and refreshes"),
        PlantedExchangeBug(.noteRetryAfter, .doubled, in: "401s and refreshes"),
        PlantedExchangeBug(.noteRetryAfter, .late, in: "401s and refreshes"),
        PlantedExchangeBug(.noteRedirect, .leftOut, in: "busy servers at both origins"),
        PlantedExchangeBug(.noteRedirect, .doubled, in: "busy servers at both origins"),
        PlantedExchangeBug(.noteRedirect, .late, in: "busy servers at both origins"),
    ]

    static let inExtent = all.filter { TestExtent.isWhole || !$0.isDeep }

    /// Whether a command does the same when it is done twice, or after those behind it: then nothing can be found.
    private static func isHarmless(_ kind: ExchangeMachine.Command.Kind, _ manner: Manner) -> Bool {
        switch (manner, kind) {
        case (.leftOut, _): false
        case (.doubled, .leaveSession), (.doubled, .leaveLane), (.doubled, .stop), (.doubled, .limitRest),
            (.doubled, .dropPart), (.doubled, .abandonBody), (.doubled, .payForRetry), (.doubled, .pause),
            (.doubled, .leavePause), (.doubled, .setDeadline), (.doubled, .removeDeadline):
            true
        case (.doubled, _): false
        // What goes on in the same thread must not come before it.
        case (.late, .tokenAccepted), (.late, .tokenRejected), (.late, .keepCookies), (.late, .noteRetry),
            (.late, .noteRetryAfter), (.late, .noteRedirect):
            false
        case (.late, _): true
        }
    }

    /// The commands with which nothing is done wrong in a manner that could do harm.
    static var missing: [String] {
        ExchangeMachine.Command.Kind.allCases.flatMap { kind in
            [Manner.leftOut, .doubled, .late].filter { manner in
                !isHarmless(kind, manner)
                    && !all.contains { $0.tampering?.kind == kind && $0.tampering?.manner == manner }
            }.map { "\(kind.rawValue) \($0.rawValue)" }
        }
    }
}
