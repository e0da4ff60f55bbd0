import Foundation

/// Endpoints that need a bearer token (RFC 6750).
struct AccountEndpoints {
    let state: Locked<ServerState>
    let clock: ServerClock

    func install(on router: inout Router) {
        let state = state

        let account = signed { _, owner in .json(Member(name: owner.name)) }
        router.on("GET", "/account", account)
        // The same, but a 401 for an invalid token has a body that never ends.
        router.on("GET", "/account/endless-refusal") { call in
            var reply = try await account(call)
            if reply.status == 401 { reply.delivery = .endless }
            return reply
        }
        // The token is judged once; a stream goes on when it expires.
        let gates = GateEndpoints(state: state, clock: clock)
        router.on("GET", "/account/gates", signed { call, _ in try gates.announcements(call) })
        // Made for storms: the response is small, and the number identifies it.
        router.on(
            "GET",
            "/account/miles",
            signed { call, owner in
                let milliseconds = try call.query("milliseconds", default: 0, in: 0...600_000)
                if milliseconds > 0 {
                    try await Task.sleep(nanoseconds: UInt64(milliseconds) * 1_000_000)
                }
                return .json(Miles(member: owner.name, number: call.query("number")))
            }
        )
        router.on(
            "GET",
            "/account/trips",
            signed { _, owner in .json(state.withLock { $0.desk.bookings(of: owner.name) }) }
        )
        // A list with pages: each contains the link to the next.
        router.on(
            "GET",
            "/account/activity",
            signed { call, owner in
                let before = try call.query("before", default: .max, in: 1...Int.max)
                let limit = try call.query("limit", default: 20, in: 1...100)
                return .json(
                    state.withLock {
                        MileagePage(of: $0.desk, member: owner.name, before: before, limit: limit)
                    })
            }
        )
        router.on(
            "POST",
            "/account/trips",
            signed { call, owner in
                let request = try call.json(BookingRequest.self)
                let booking = try state.withLock { try $0.desk.book(request, member: owner.name) }
                return .created(booking, at: "/bookings/\(booking.reference)")
            }
        )
    }

    private struct Miles: Encodable {
        let member: String
        var miles = 48_213
        let number: String?
    }

    /// Processes a call if its token is valid on arrival.
    private func signed(
        _ endpoint: @escaping @Sendable (Call, TokenLedger.Owner) async throws -> Reply
    ) -> Router.Endpoint {
        let state = state
        let clock = clock
        return { call in
            guard let authorization = call.header("Authorization") else {
                state.withLock { $0.counters.apiRequestsUnsigned += 1 }
                // RFC 6750 §3.1: no error code for a request that lacks a token.
                throw refusal("unsigned", "An access token is required.", challenge: "Bearer realm=\"airline\"")
            }
            let token = AuthorizationHeader.value(of: authorization, scheme: "Bearer") ?? ""
            let judgement = state.withLock { $0.judge(token, now: clock.now()) }
            var reply: Reply
            switch judgement.verdict {
            case .good(let owner):
                do {
                    reply = try await endpoint(call, owner)
                } catch let problem as Problem {
                    reply = problem.reply
                }
            case .expired:
                reply = deadToken("The access token expired").reply
            case .revoked:
                reply = deadToken("The access token was revoked").reply
            case .unknown:
                reply = deadToken("The access token is unknown").reply
            }
            reply.token = judgement.number
            return reply
        }
    }
}

private func deadToken(_ description: String) -> Problem {
    refusal(
        "invalid_token",
        description + ".",
        challenge: "Bearer realm=\"airline\", error=\"invalid_token\", error_description=\"\(description)\""
    )
}

private func refusal(_ code: String, _ message: String, challenge: String) -> Problem {
    Problem(401, code, message, headers: [("WWW-Authenticate", challenge)])
}

extension TokenLedger.Owner {
    fileprivate var name: String { user ?? clientID }
}

extension ServerState {
    /// Checks the token of a request for a protected resource and counts the
    /// request.
    fileprivate mutating func judge(_ token: String, now: TimeInterval) -> TokenLedger.Judgement {
        let judgement = ledger.judge(token, now: now)
        switch judgement.verdict {
        case .good:
            counters.apiRequestsAccepted += 1
        case .expired:
            counters.apiRequestsWithExpiredToken += 1
            counters.apiRequestsWithDeadToken += 1
        case .revoked:
            counters.apiRequestsWithRevokedToken += 1
            counters.apiRequestsWithDeadToken += 1
        case .unknown:
            counters.apiRequestsWithUnknownToken += 1
        }
        if judgement.isSuperseded { counters.apiRequestsWithSupersededToken += 1 }
        if judgement.wasRejected { counters.apiRequestsWithRejectedToken += 1 }
        return judgement
    }
}
