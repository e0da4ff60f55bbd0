import Foundation

/// The mutable state of the server, behind one lock, so that the counters
/// always match the events.
struct ServerState {
    var policy: TokenPolicy
    var faults = TokenEndpointFaults()
    var transferFaults = TransferFaults()
    /// Counted up to end the streams that are open.
    var streamGeneration = 0
    var ledger = TokenLedger()
    var desk: BookingDesk
    var counters = Counters()
    var log: EventLog
    private(set) var arrivals = 0
    private var requestsInFlight = 0
    private var tokenRequestsInFlight = 0

    init(configuration: ServerConfiguration) {
        policy = configuration.policy
        desk = BookingDesk(flights: Timetable.flights(after: Date()))
        log = EventLog(capacity: configuration.eventCapacity)
    }

    /// Counts a request, and returns its position in the order of arrival, from
    /// 1.
    mutating func requestArrived() -> Int {
        arrivals += 1
        counters.requests += 1
        requestsInFlight += 1
        counters.peakConcurrentRequests = max(counters.peakConcurrentRequests, requestsInFlight)
        return arrivals
    }

    mutating func requestEnded() {
        requestsInFlight -= 1
    }

    mutating func tokenRequestArrived() {
        counters.tokenRequests += 1
        tokenRequestsInFlight += 1
        counters.peakConcurrentTokenRequests = max(counters.peakConcurrentTokenRequests, tokenRequestsInFlight)
    }

    mutating func tokenRequestEnded() {
        tokenRequestsInFlight -= 1
    }

    /// Sets the counters to zero and clears the log; tokens, bookings and
    /// switches stay.
    mutating func resetCounters() {
        counters = Counters()
        log.removeAll()
    }

    /// Restores the state at the start, except for the requests that are being
    /// answered now.
    mutating func reset(to configuration: ServerConfiguration) {
        policy = configuration.policy
        faults = TokenEndpointFaults()
        transferFaults = TransferFaults()
        streamGeneration += 1
        ledger = TokenLedger()
        desk = BookingDesk(flights: Timetable.flights(after: Date()))
        resetCounters()
    }
}

// MARK: - Administration

extension ServerState {
    mutating func expireAccessTokens(now: TimeInterval) -> Int {
        let count = ledger.expireAccessTokens(now: now)
        log.append(.accessTokensExpired, at: now, detail: "\(count) access tokens expired on request")
        return count
    }

    mutating func revokeAccessTokens(now: TimeInterval) -> Int {
        let count = ledger.revokeAccessTokens(now: now)
        log.append(.accessTokensRevoked, at: now, detail: "\(count) access tokens revoked on request")
        return count
    }

    mutating func revokeFamilies(now: TimeInterval) -> Int {
        let families = ledger.revokeFamilies()
        counters.familiesRevoked += families.count
        for family in families {
            log.append(.familyRevoked, at: now, detail: "family \(family) revoked on request")
        }
        return families.count
    }
}
