import Foundation

/// The switches over HTTP, for a client in another process.
///
/// They need no password, because the server listens only on 127.0.0.1.
struct AdminEndpoints {
    let configuration: ServerConfiguration
    let state: Locked<ServerState>
    let clock: ServerClock

    func install(on router: inout Router) {
        let state = state
        let clock = clock
        let configuration = configuration

        router.on("POST", "/admin/expire-access-tokens") { _ in
            .json(["expired": state.withLock { $0.expireAccessTokens(now: clock.now()) }])
        }
        router.on("POST", "/admin/revoke-access-tokens") { _ in
            .json(["revoked": state.withLock { $0.revokeAccessTokens(now: clock.now()) }])
        }
        router.on("POST", "/admin/revoke-families") { _ in
            .json(["revoked": state.withLock { $0.revokeFamilies(now: clock.now()) }])
        }

        router.on("GET", "/admin/token-endpoint") { _ in .json(state.withLock(\.faults)) }
        router.on("POST", "/admin/token-endpoint") { call in
            let faults = try state.withLock { state in
                state.faults = try call.merged(into: state.faults, keys: TokenEndpointFaults.CodingKeys.self)
                return state.faults
            }
            return .json(faults)
        }
        router.on("GET", "/admin/policy") { _ in .json(state.withLock(\.policy)) }
        router.on("POST", "/admin/policy") { call in
            let policy = try state.withLock { state in
                state.policy = try call.merged(into: state.policy, keys: TokenPolicy.CodingKeys.self)
                return state.policy
            }
            return .json(policy)
        }

        router.on("GET", "/admin/transfers") { _ in .json(state.withLock(\.transferFaults)) }
        router.on("POST", "/admin/transfers") { call in
            let faults = try state.withLock { state in
                state.transferFaults = try call.merged(
                    into: state.transferFaults, keys: TransferFaults.CodingKeys.self)
                return state.transferFaults
            }
            return .json(faults)
        }
        router.on("POST", "/admin/end-streams") { _ in
            state.withLock { $0.streamGeneration += 1 }
            return Reply(status: 204)
        }

        router.on("GET", "/admin/counters") { _ in .json(state.withLock(\.counters)) }
        router.on("POST", "/admin/counters/reset") { _ in
            state.withLock { $0.resetCounters() }
            return Reply(status: 204)
        }
        router.on("GET", "/admin/events") { call in
            let after = try call.query("after", default: 0, in: 0...Int.max)
            return .json(state.withLock { $0.log.events(after: after) })
        }
        router.on("POST", "/admin/reset") { _ in
            state.withLock { $0.reset(to: configuration) }
            return Reply(status: 204)
        }
    }
}

extension Call {
    /// The value with the members of the JSON body replaced.
    ///
    /// An unknown name is an error, so that a misspelt switch isn't ignored.
    fileprivate func merged<Value: Codable, Key: CodingKey & CaseIterable>(
        into value: Value,
        keys: Key.Type
    ) throws -> Value {
        let names = Set(Key.allCases.map(\.stringValue))
        guard let changes = try? JSONSerialization.jsonObject(with: body) as? [String: Any] else {
            throw Problem(400, "malformed_json", "The body must be a JSON object.")
        }
        if let unknown = changes.keys.sorted().first(where: { !names.contains($0) }) {
            let known = names.sorted().joined(separator: ", ")
            throw Problem(422, "unknown_switch", "There is no \(unknown). Available: \(known).")
        }
        do {
            let current = try JSONSerialization.jsonObject(with: JSONEncoder().encode(value)) as? [String: Any]
            let merged = (current ?? [:]).merging(changes) { _, new in new }
            return try JSONDecoder().decode(Value.self, from: JSONSerialization.data(withJSONObject: merged))
        } catch {
            throw Problem(422, "validation_failed", "A value has the wrong type.")
        }
    }
}
