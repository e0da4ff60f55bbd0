import Foundation

/// The server's counts since its start or since they were reset.
public struct Counters: Sendable, Codable, Hashable {
    /// All requests.
    public internal(set) var requests = 0
    /// All calls of the token endpoint.
    public internal(set) var tokenRequests = 0
    /// Calls of the token endpoint answered with an OAuth error.
    public internal(set) var tokenRequestsRefused = 0
    /// Sessions started with the password or the client credentials grant.
    public internal(set) var signIns = 0
    /// Refresh tokens accepted for the first time.
    public internal(set) var refreshes = 0
    /// Refresh tokens accepted again within the grace period.
    public internal(set) var repeatedRefreshes = 0
    /// Access tokens issued.
    public internal(set) var tokensIssued = 0
    /// Used refresh tokens that were sent again; each ended its session.
    public internal(set) var reuseDetected = 0
    /// Sessions ended, for any reason.
    public internal(set) var sessionsEnded = 0
    /// Requests for a protected resource with a valid token.
    public internal(set) var apiRequestsAccepted = 0
    /// Requests for a protected resource without a token.
    public internal(set) var apiRequestsUnsigned = 0
    /// Requests for a protected resource whose token was expired, revoked or unknown.
    public internal(set) var apiRequestsWithDeadToken = 0

    /// All counters at zero.
    public init() {}
}

/// The mutable state of the server, behind one lock, so that the counters always match the tokens.
struct ServerState {
    var policy: TokenPolicy
    var transfers = TransferFaults()
    var ledger = TokenLedger()
    var desk = BookingDesk()
    var counters = Counters()

    mutating func endSessions() { counters.sessionsEnded += ledger.endSessions() }
}

/// A value behind a lock.
package final class Locked<Value>: @unchecked Sendable {
    // Accessed only under `lock`.
    private var value: Value
    private let lock = NSLock()

    package init(_ value: Value) { self.value = value }

    package func withLock<Result, Failure>(_ body: (inout Value) throws(Failure) -> Result) throws(Failure) -> Result {
        lock.lock()
        defer { lock.unlock() }
        return try body(&value)
    }
}
