import AtomNetworkingTesting
import Foundation

/// Endpoints of a member: with a user name and a password (RFC 7617), or with an access token (RFC 6750, RFC 9449).
struct AccountEndpoints {
    let state: Locked<ServerState>

    var routes: [String: Endpoint] {
        [
            "GET /me": { request throws(Problem) in
                guard let given = request.basicCredential, AirlineServer.users[given.name] == given.secret else {
                    throw Problem(
                        401, "wrong_credentials", "The user name or the password is missing or wrong.",
                        challenge: "Basic realm=\"airline\", charset=\"UTF-8\"")
                }
                return .encoding(Member(name: given.name))
            },
            "GET /account": signed { _, user in .encoding(Member(name: user)) },
            // Made for storms: the response is small, and the number identifies it.
            "GET /account/miles": signed { request, user throws(Problem) in
                let milliseconds = try request.query("milliseconds", default: 0, in: 0...600_000)
                let response = LoopbackServer.Response.encoding(Miles(member: user, number: request.query("number")))
                return milliseconds > 0 ? response.delayed(milliseconds: milliseconds) : response
            },
            // A list with pages: each contains the link to the next.
            "GET /account/activity": signed { request, user throws(Problem) in
                let before = try request.query("before", default: .max, in: 1...Int.max)
                let limit = try request.query("limit", default: 20, in: 1...100)
                return .encoding(MileagePage(of: state.withLock(\.desk), before: before, limit: limit))
            },
            // The token is judged once; a stream goes on when it expires.
            "GET /account/gates": signed { request, _ throws(Problem) in
                try GateEndpoints(state: state).announcements(request)
            },
            // Only for a token with a scope that a user grants for this.
            "POST /account/upgrades": signed(for: .miles) { request, user throws(Problem) in
                let flight = try request.decoded(UpgradeOrder.self).flight ?? ""
                let upgrade = Upgrade(flight: try state.withLock(\.desk).flight(flight).number, member: user)
                return .encoding(upgrade, status: 201)
            },
        ]
    }

    private struct UpgradeOrder: Decodable {
        let flight: String?
    }

    private struct Upgrade: Encodable {
        let flight: String
        let member: String
        let cabin = "first"
        let miles = 15_000
    }

    private struct Miles: Encodable {
        let member: String
        let miles = 48_213
        let number: String?
    }

    /// Answers a request if its token is valid on arrival, and is enough.
    private func signed(
        for scope: Scope? = nil,
        _ answer: @escaping @Sendable (LoopbackServer.Request, String) throws(Problem) -> LoopbackServer.Response
    ) -> Endpoint {
        { request throws(Problem) in
            let user = try state.withLock { (state) throws(Problem) in
                try state.user(signing: request, for: scope)
            }
            return try answer(request, user)
        }
    }
}

extension ServerState {
    /// Judges the token of a request, and its proof.
    fileprivate mutating func user(
        signing request: LoopbackServer.Request, for scope: Scope?
    ) throws(Problem) -> String {
        // RFC 9728 §5.1.
        let place = "realm=\"airline\", resource_metadata=\"\(issuer)\(MetadataEndpoints.resourcePath)\""
        let bound = request.credential("DPoP")
        guard let token = bound ?? request.credential("Bearer") else {
            counters.apiRequestsUnsigned += 1
            // RFC 6750 §3.1: no error code for a request that lacks a token.
            throw Problem(
                401, "unsigned", "An access token is required.",
                challenge: "Bearer \(place), DPoP realm=\"airline\", algs=\"ES256\"")
        }
        let scheme = bound == nil ? "Bearer" : "DPoP"
        func refusal(_ error: OAuthRefusal) -> Problem {
            Problem(
                401, error.code, error.description, challenge: "\(scheme) \(place), error=\"\(error.code)\"",
                nonce: error.nonce)
        }
        guard let access = ledger.access(by: token, now: .now) else {
            counters.apiRequestsWithDeadToken += 1
            throw refusal(OAuthRefusal("invalid_token", "The access token is not valid."))
        }
        if bound != nil || access.keyThumbprint != nil {
            let key: String?
            do throws(OAuthRefusal) {
                key = bound == nil ? nil : try self.key(provenBy: request, accessToken: token)
            } catch {
                throw refusal(error)
            }
            // RFC 9449 §7.1, §7.2.
            guard let key, key == access.keyThumbprint else {
                throw refusal(OAuthRefusal("invalid_token", "The access token needs a proof with its key."))
            }
        }
        guard scope.map(access.scopes.contains) ?? true else {
            throw Problem(
                403, "insufficient_scope", "The access token has no scope for this.",
                challenge: "\(scheme) \(place), error=\"insufficient_scope\", scope=\"\(scope?.rawValue ?? "")\"")
        }
        counters.apiRequestsAccepted += 1
        return access.user
    }
}

/// A member in the API.
private struct Member: Encodable {
    let name: String
    let tier = "gold"
    let miles = 48_213
}
