import AtomNetworkingTesting
import Foundation

/// Endpoints of a member: with a user name and a password (RFC 7617), or with a bearer token (RFC 6750).
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
        ]
    }

    private struct Miles: Encodable {
        let member: String
        let miles = 48_213
        let number: String?
    }

    /// Answers a request if its token is valid on arrival.
    private func signed(
        _ answer: @escaping @Sendable (LoopbackServer.Request, String) throws(Problem) -> LoopbackServer.Response
    ) -> Endpoint {
        { request throws(Problem) in
            guard let token = request.credential("Bearer") else {
                state.withLock { $0.counters.apiRequestsUnsigned += 1 }
                // RFC 6750 §3.1: no error code for a request that lacks a token.
                throw Problem(401, "unsigned", "An access token is required.", challenge: "Bearer realm=\"airline\"")
            }
            let user = state.withLock { state in
                let user = state.ledger.user(of: token, now: .now)
                if user == nil {
                    state.counters.apiRequestsWithDeadToken += 1
                } else {
                    state.counters.apiRequestsAccepted += 1
                }
                return user
            }
            guard let user else {
                throw Problem(
                    401, "invalid_token", "The access token is not valid.",
                    challenge: "Bearer realm=\"airline\", error=\"invalid_token\"")
            }
            return try answer(request, user)
        }
    }
}

/// A member in the API.
private struct Member: Encodable {
    let name: String
    let tier = "gold"
    let miles = 48_213
}
