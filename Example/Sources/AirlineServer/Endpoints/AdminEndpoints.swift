import AtomNetworkingTesting

/// The counters and the switches over HTTP.
///
/// They need no password, because the server listens only on 127.0.0.1.
struct AdminEndpoints {
    let state: Locked<ServerState>

    var routes: [String: Endpoint] {
        [
            "GET /admin/counters": { _ in .encoding(state.withLock(\.counters)) },
            "POST /admin/expire-access-tokens": { _ in
                state.withLock { $0.ledger.endAccessTokens() }
                return .empty()
            },
            "POST /admin/end-sessions": { _ in
                state.withLock { $0.endSessions() }
                return .empty()
            },
            "POST /admin/transfers": { request throws(Problem) in
                let faults = try request.decoded(TransferFaults.self)
                state.withLock { $0.transfers = faults }
                return .encoding(faults)
            },
        ]
    }
}
