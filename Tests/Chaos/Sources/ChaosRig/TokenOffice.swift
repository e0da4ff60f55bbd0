import AtomNetworking
import Foundation

/// The authorization server's sessions and tokens: a refresh token is used once, and one
/// that is used twice ends its session (RFC 9700 §4.14.2).
final class TokenOffice: Sendable {
    /// A token of a session; the access token and the refresh token that were issued
    /// together have the same number.
    struct Name: Hashable, Sendable, CustomStringConvertible {
        let family: Int
        let number: Int
        var description: String { "token \(number) of session \(family)" }
    }

    /// From a sign-in to its end.
    private struct Family {
        let store: String
        let owner: String
        var current = 0
        /// When each access token expires, and which is revoked.
        var expiry: [Int: Int64] = [:]
        var isRevoked = false
        /// When the refresh came that is being worked on.
        var working: Int64?
        /// The process that has sent the last refresh.
        var spender = 0
        /// When the last refresh came, and what became of its answer.
        var spentAt: Int64 = 0
        var isAnswerLost = false
        /// Whether a client has shown that it has the newest tokens.
        var isCurrentSeen = true
    }

    /// A thing that may happen only after an answer was lost; the clients' word for it may
    /// still be on its way.
    private struct Suspicion {
        let text: String
        /// The process whose response must have been lost; `nil` for none that could excuse it.
        let spender: Int?
        let store: String
        let from: Int64
        let until: Int64
    }

    /// A response that a client says it has not got.
    private struct Loss {
        let process: Int
        let store: String
        let at: Int64
    }

    private struct State {
        var families: [Family] = []
        var suspicions: [Suspicion] = []
        var losses: [Loss] = []
        /// When processes were killed.
        var kills: [Int: Int64] = [:]
        var events: [String: Int] = [:]
        var chance: Chance
    }

    private let seed: UInt64
    /// How long before a refresh is read its client may have given it up, in nanoseconds.
    private static let lateness: Int64 = 15_000_000_000
    private let state: Locked<State>

    init(seed: UInt64) {
        self.seed = seed
        state = Locked(State(chance: Chance(seed, 1)))
    }

    var events: [String: Int] { state.value.events }

    static var now: Int64 { MonotonicInstant.now.nanoseconds }

    func owner(of family: Int) -> String? {
        state.with { $0.families.indices.contains(family) ? $0.families[family].owner : nil }
    }
    func store(of family: Int) -> String? {
        state.with { $0.families.indices.contains(family) ? $0.families[family].store : nil }
    }

    // MARK: - Texts

    private func text(_ name: Name, _ kind: String) -> String {
        var chance = Chance(seed, UInt64(name.family), UInt64(name.number), UInt64(kind.utf8.count))
        return "\(kind).\(name.family).\(name.number).\(String(chance.next(), radix: 36))"
    }

    private func name(_ text: String, _ kind: String) -> Name? {
        let parts = text.split(separator: ".")
        guard parts.count == 4, parts[0] == kind, let family = Int(parts[1]), let number = Int(parts[2]) else {
            return nil
        }
        let name = Name(family: family, number: number)
        return self.text(name, kind) == text ? name : nil
    }

    /// The session and the number of an access token, whether it's valid or not.
    func access(_ field: String) -> Name? {
        field.hasPrefix("Bearer ") ? name(String(field.dropFirst(7)), "access") : nil
    }

    // MARK: - Tokens

    /// A token response.
    ///
    /// The lifetime that it tells is at times longer than the true one.
    private func grant(_ name: Name, _ state: inout State, isCalm: Bool) -> String {
        let lifetime =
            isCalm
            ? Double(state.chance.number(5_000...20_000)) / 1_000 : Double(state.chance.number(400...4_000)) / 1_000
        let told = state.chance.happens(0.2) ? lifetime * 3 : lifetime
        state.families[name.family].expiry[name.number] = Self.now + Int64(lifetime * 1e9)
        state.families[name.family].expiry[name.number - 2] = nil
        return """
            {"access_token":"\(text(name, "access"))","refresh_token":"\(text(name, "refresh-token"))",\
            "token_type":"Bearer","expires_in":\(told),"family":\(name.family)}
            """
    }

    func signIn(_ owner: String, store: String, isCalm: Bool) -> String {
        state.with { state in
            state.families.append(Family(store: store, owner: owner))
            state.events["sign-ins", default: 0] += 1
            return grant(Name(family: state.families.count - 1, number: 0), &state, isCalm: isCalm)
        }
    }

    /// Whether a request with this token is served.
    func isValid(_ name: Name) -> Bool {
        state.with { state in
            guard state.families.indices.contains(name.family) else { return false }
            let family = state.families[name.family]
            if name.number == family.current { state.families[name.family].isCurrentSeen = true }
            guard !family.isRevoked, let expiry = family.expiry[name.number] else { return false }
            return expiry > Self.now
        }
    }

    /// What becomes of a refresh.
    enum Refresh: Sendable {
        case refused
        /// Nothing was done.
        case unavailable
        /// The answer, and whether it gets lost.
        case granted(String, isLost: Bool)
    }

    /// A refresh; it takes as long as this call.
    func refresh(_ token: String, by process: Int, isCalm: Bool) -> Refresh {
        let came = Self.now
        let (refresh, name, pause) = state.with { state -> (Refresh, Name?, Int) in
            guard let name = self.name(token, "refresh-token"), state.families.indices.contains(name.family)
            else { return (.refused, nil, 0) }
            let family = state.families[name.family]
            state.events["refreshes", default: 0] += 1
            if let working = family.working {
                state.events["refreshes beside another one", default: 0] += 1
                state.suspicions.append(
                    Suspicion(
                        text: "two refreshes at once, with \(name), of \(family.owner) in \(family.store)",
                        spender: family.spender, store: family.store, from: working - Self.lateness, until: came))
            }
            guard !family.isRevoked else { return (.refused, nil, 0) }
            guard name.number == family.current else {
                state.events["spent refresh tokens that came again", default: 0] += 1
                let text =
                    "the spent refresh \(name) came again, of \(family.owner) in \(family.store); "
                    + "the server has given out number \(family.current)"
                if family.isCurrentSeen {
                    state.suspicions.append(
                        Suspicion(
                            text: text + ", which was in use", spender: nil, store: family.store, from: came,
                            until: came))
                } else if !family.isAnswerLost {
                    state.suspicions.append(
                        Suspicion(
                            text: text, spender: family.spender, store: family.store,
                            from: family.spentAt - Self.lateness, until: came))
                }
                state.families[name.family].isRevoked = true
                return (.refused, nil, 0)
            }
            let pause = isCalm ? 0 : state.chance.happens(0.5) ? 0 : state.chance.number(1...250)
            if !isCalm, state.chance.happens(0.08) {
                state.events["refreshes that were put off", default: 0] += 1
                return (.unavailable, nil, pause)
            }
            state.families[name.family].current += 1
            state.families[name.family].spentAt = came
            state.families[name.family].isCurrentSeen = false
            state.families[name.family].working = came
            state.families[name.family].spender = process
            let isLost = !isCalm && state.chance.happens(0.04)
            state.families[name.family].isAnswerLost = isLost
            if isLost { state.events["refreshes whose response was lost", default: 0] += 1 }
            let next = Name(family: name.family, number: name.number + 1)
            return (.granted(grant(next, &state, isCalm: isCalm), isLost: isLost), next, pause)
        }
        usleep(useconds_t(pause * 1_000))
        if let name { state.with { $0.families[name.family].working = nil } }
        return refresh
    }

    /// A client says that it has no response to a refresh.
    func lost(by process: Int, store: String, at nanoseconds: Int64) {
        state.with { $0.losses.append(Loss(process: process, store: store, at: nanoseconds)) }
    }

    /// A process was killed.
    func killed(_ process: Int) { state.with { $0.kills[process] = Self.now } }

    /// Revokes a session's tokens, since it was signed out.
    func revoke(_ token: String) {
        state.with { state in
            guard let name = self.name(token, "refresh-token"), state.families.indices.contains(name.family) else {
                return
            }
            state.events["sign-outs that the server heard of", default: 0] += 1
            state.families[name.family].isRevoked = true
        }
    }

    /// Revokes the access token of a session at random, or at times the whole session.
    func revokeSomething() {
        state.with { state in
            let last = state.families.count - 1
            guard last >= 0 else { return }
            let family = state.chance.number(max(0, last - 8)...last)
            guard !state.families[family].isRevoked else { return }
            if state.chance.happens(0.15) {
                state.families[family].isRevoked = true
                state.events["sessions that were revoked", default: 0] += 1
            } else {
                state.families[family].expiry = [:]
                state.events["access tokens that were revoked", default: 0] += 1
            }
        }
    }

    /// What may happen only after an answer was lost, and happened without.
    func unexcused() -> [String] {
        state.with { state in
            state.suspicions.filter { suspicion in
                guard let spender = suspicion.spender else { return true }
                // What a client says, and that it was killed, is heard a little later.
                let until = suspicion.until + 1_000_000_000
                if let killed = state.kills[spender], killed <= until { return false }
                return !state.losses.contains {
                    $0.process == spender && $0.store == suspicion.store && $0.at >= suspicion.from && $0.at <= until
                }
            }
            .map(\.text)
        }
    }
}
