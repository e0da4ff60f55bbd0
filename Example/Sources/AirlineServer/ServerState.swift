import AtomNetworkingTesting
import Foundation

/// The server's counts since its start or since they were reset.
public struct Counters: Sendable, Codable, Hashable {
    /// All requests.
    public internal(set) var requests = 0
    /// All calls of the token endpoint.
    public internal(set) var tokenRequests = 0
    /// Calls of the token endpoint answered with an OAuth error.
    public internal(set) var tokenRequestsRefused = 0
    /// Sessions started.
    public internal(set) var signIns = 0
    /// Pages to sign in on that were opened.
    public internal(set) var pages = 0
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
    /// The server's address, and its name as an authorization server (RFC 8414 §2).
    var issuer = ""
    var ledger = TokenLedger()
    var authorizations = AuthorizationLedger()
    var proofs = ProofLedger()
    let idTokens = IDTokenIssuer()
    var desk = BookingDesk()
    var counters = Counters()

    mutating func endSessions() { counters.sessionsEnded += ledger.endSessions() }

    /// The key that a request's proof is made with; `nil` without a proof.
    mutating func key(
        provenBy request: LoopbackServer.Request, accessToken: String? = nil
    ) throws(OAuthRefusal) -> String? {
        let texts = request.values(for: "DPoP")
        guard let text = texts.first else { return nil }
        // RFC 9449 §4.3, 1.
        guard texts.count == 1 else { throw OAuthRefusal("invalid_dpop_proof", "There are two proofs.") }
        let proof = try DPoPProof(text)
        try proof.check(
            method: request.method, url: "http://\(request["Host"] ?? "")\(request.path)", accessToken: accessToken,
            now: Date().timeIntervalSince1970)
        try proofs.take(proof, now: .now)
        return proof.keyThumbprint
    }
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
