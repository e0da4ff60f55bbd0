import AtomNetworking
import Foundation

/// Checks whether a `Transport` does what its documentation demands.
///
/// It starts servers on this machine that answer as a check needs it. No
/// connection to another machine is made.
///
/// ```swift
/// import AtomNetworking
/// import AtomNetworkingTesting
///
/// // In a test, with your transport.
/// let report = await TransportContract.check { ServiceConfiguration().makeDefaultTransport() }
/// try report.get()
/// ```
///
/// A check can prove that a requirement is broken, never that it is met in every
/// case: run it often, and also with the thread sanitizer.
public enum TransportContract {
    /// A check, named after what it demands.
    public enum Check: String, Sendable, Hashable, CaseIterable {
        /// One head, then the parts of the body, then one last event.
        case eventsInOrder
        /// Events come one at a time.
        case oneEventAtATime
        /// A response that breaks off is one `failed`, and never `finished`.
        case brokenResponsesFail
        /// A head that breaks off is `failed` too.
        case brokenHeadsFail
        /// A head with two different lengths is `failed` too (RFC 9112 §6.3).
        case differingLengthsFail
        /// A request whose connection ends is not sent again, also over a connection that was kept.
        ///
        /// Leave it out for an HTTP stack that repeats an idempotent request over such a
        /// connection (RFC 9110 §9.2.2).
        case requestsAreSentOnce
        /// A failure says `notSent` only if nothing was sent.
        case deliveryIsHonest
        /// A cancelled exchange ends soon, with one last event.
        case cancelledExchangesEnd
        /// `cancel` never calls `receive` before it returns.
        case cancelIsQuiet
        /// Cancelling after the end, and often, does nothing.
        case lateCancelDoesNothing
        /// An exchange can be cancelled inside `receive`.
        case cancelInsideReceive
        /// `start` returns without waiting for the network.
        case startDoesNotWait
        /// Requests are sent in the order in which they were started.
        ///
        /// A server sees only in which order connections are opened. Leave it out
        /// for a transport that opens them on several threads.
        case requestsKeepTheirOrder
        /// A redirect is a response as any other.
        case redirectsAreNotFollowed
        /// A cookie isn't kept.
        case cookiesAreNotKept
        /// A response isn't kept for a later request.
        case responsesAreNotKept
        /// A 401 is a response as any other, with its body.
        case challengesAreNotAnswered
        /// Method, path and query are sent as given.
        case targetsAreExact
        /// Each header field is sent with its values; repeats may be joined.
        case headerFieldsAreSent
        /// Header fields are sent as separate lines in the given order.
        case headerFieldLinesAreExact
        /// Only the fields that the documentation of `start` names are added.
        case headerFieldsAreNotAdded
        /// Header fields of a response are as received, with repeats.
        case headerFieldsAreReceived
        /// A body in memory is sent completely and counted.
        case bodiesAreSent
        /// A body that is read while it is sent arrives completely, and one that fails ends the exchange.
        case streamedBodiesAreSent
        /// A body that is read while it is sent isn't read to its end if the server doesn't read.
        case streamsAreReadOnDemand
        /// The body of a response is complete.
        case bodiesAreReceived
        /// The body of a response is decoded from its content coding.
        case bodiesAreDecoded
        /// An interim response is skipped.
        case interimResponsesAreSkipped
        /// A request that needs a fresh connection gets one.
        case freshConnections
        /// Many exchanges at once neither mix nor wait for one another.
        case exchangesSideBySide
        /// A measurement comes where it is wanted, once, before the last event.
        case metricsAreInPlace
        /// A paused body is held back, and goes on completely.
        case pauseHoldsBack
        /// An exchange outlives its released transport.
        case exchangesOutliveTheTransport

        /// What the documentation of `Transport` demands, in one sentence.
        public var requirement: String {
            switch self {
            case .eventsInOrder: "Each exchange has one head, then its body, then one last event."
            case .oneEventAtATime: "The events of an exchange come one at a time."
            case .brokenResponsesFail: "A response that breaks off ends with `failed`."
            case .brokenHeadsFail: "A head that breaks off ends with `failed`."
            case .differingLengthsFail: "A head with two different lengths ends with `failed`."
            case .requestsAreSentOnce: "A transport sends a request once, whatever happens to its connection."
            case .deliveryIsHonest: "A failure says `notSent` only if nothing can have reached the server."
            case .cancelledExchangesEnd: "A cancelled exchange ends soon, with exactly one last event."
            case .cancelIsQuiet: "`cancel` doesn't call `receive` before it returns."
            case .lateCancelDoesNothing: "`cancel` does nothing after the end of the exchange."
            case .cancelInsideReceive: "An exchange can be cancelled inside `receive`."
            case .startDoesNotWait: "`start` returns without waiting for the network."
            case .requestsKeepTheirOrder: "The order of the calls of `start` is the order of sending."
            case .redirectsAreNotFollowed: "A transport never follows a redirect."
            case .cookiesAreNotKept: "A transport never stores a cookie."
            case .responsesAreNotKept: "A transport keeps no response for a later request."
            case .challengesAreNotAnswered: "A transport answers no challenge, and delivers the 401 with its body."
            case .targetsAreExact: "Method, path and query are sent as they are given."
            case .headerFieldsAreSent: "Each header field is sent with all its values in order."
            case .headerFieldLinesAreExact: "Header fields are sent line by line in the given order."
            case .headerFieldsAreNotAdded: "A transport adds only the fields that the documentation of `start` names."
            case .headerFieldsAreReceived: "Header fields of a response are as received, with repeats."
            case .bodiesAreSent: "A body is sent completely, and `sent` counts its bytes."
            case .streamedBodiesAreSent: "A body that is read while it is sent arrives completely, or not as complete."
            case .streamsAreReadOnDemand: "A stream is read no faster than it is sent."
            case .bodiesAreReceived: "The parts of a response's body make up all of it."
            case .bodiesAreDecoded: "The body of a response is decoded from content codings."
            case .interimResponsesAreSkipped: "The head is that of the final response, never of an interim one."
            case .freshConnections: "A request that needs a fresh connection is sent over a new one, without waiting."
            case .exchangesSideBySide: "Exchanges that run at once neither mix nor wait for one another."
            case .metricsAreInPlace: "`measured` comes only if wanted, once, directly before the last event."
            case .pauseHoldsBack: "A paused body is held back until `resume`, and nothing of it is lost."
            case .exchangesOutliveTheTransport: "An exchange goes on when its transport has been released."
            }
        }
    }

    /// Runs checks, one after the other.
    ///
    /// - Parameters:
    ///   - checks: Which checks; all by default.
    ///   - excluded: Checks that are left out. Say in your test why.
    ///   - patience: How long an exchange may take; only a transport that breaks the contract is waited for so long.
    ///   - make: Makes a transport, for each check a new one.
    /// - Returns: The result of each check, in the order of ``Check``.
    public static func check(
        _ checks: Set<Check> = Set(Check.allCases), except excluded: Set<Check> = [],
        patience: Duration = .seconds(30), _ make: @escaping @Sendable () throws -> any Transport
    ) async -> ContractReport {
        var findings: [ContractReport.Finding] = []
        for check in Check.allCases where checks.contains(check) && !excluded.contains(check) {
            let trial = TransportTrial(patience: patience, make: make)
            do {
                try await trial.run(check)
            } catch {
                trial.findings.note("the check could not be run: \(error)")
            }
            trial.finish()
            findings.append(trial.findings.finding(check.rawValue, check.requirement))
        }
        return ContractReport(subject: "Transport", findings: findings)
    }
}
