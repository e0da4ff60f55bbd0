import AtomNetworking
import Foundation

/// The account of all requests, at the clients and at the server, and the judge of it.
///
/// A client writes a line before it makes a request and one when it has the outcome. The
/// server notes each time that it gets one. So what a client knew when it made a request is
/// in the order of its lines, and needs no clock.
final class Books: Sendable {
    /// A time that the server got a request.
    struct Reception: Sendable {
        let method: String
        /// The session whose token it carried, and the number of the token; `nil` for none.
        let token: TokenOffice.Name?
        /// The session whose cookie it carried.
        let cookie: Int?
        /// What the server answers with; zero for nothing, since it loses the response or
        /// still works on it.
        var status = 0
        /// Whether it means to send the whole response.
        var isWhole = false

        /// Whether the server has said that it did nothing.
        var isRefused: Bool { status == 401 || (300...399).contains(status) }
    }

    private struct Entry {
        var kind: Kind?
        var store = ""
        var wire: RequestName?
        /// The line of its process in which it began.
        var line = 0
        var outcome: String?
        /// What came of it to the server comes although its caller was told that it was never sent.
        var isNeverSent = false
        var allowed: Set<Int> = []
        var receptions: [Reception] = []
        /// Whether it is known that it was sent twice.
        var isReported = false
    }

    /// A process that makes requests.
    private struct Maker {
        var lines = 0
        var open: Set<RequestName> = []
        /// The tokens that this process knows to be dead, and since which line.
        var dead: [TokenOffice.Name: Int] = [:]
        var isKilled = false
        /// Those that ended well with a request of their own, as bits.
        var done: [UInt64] = []
        var samples: [Sample] = []
        var baseline: Sample?
        var isOver = false

        func isDone(_ number: Int) -> Bool {
            let word = number >> 6
            return word < done.count && done[word] >> UInt64(number & 63) & 1 == 1
        }

        mutating func setDone(_ number: Int) {
            let word = number >> 6
            if word >= done.count { done += [UInt64](repeating: 0, count: word + 64 - done.count) }
            done[word] |= 1 << UInt64(number & 63)
        }
    }

    /// What a process had at a moment.
    struct Sample: Sendable {
        var requests = 0
        var residentBytes = 0
        var descriptors = 0
        var threads = 0
        /// The threads of Dispatch's pools, which come and go with the load.
        var pooled = 0
    }

    private struct State {
        var entries: [RequestName: Entry] = [:]
        var makers: [Int: Maker] = [:]
        var began: [Kind: Int] = [:]
        var outcomes: [String: Int] = [:]
        var events: [String: Int] = [:]
        var receptions = 0
        var open = 0
        var mostOpen = 0
        var violations = 0
        var firstViolation: String?
    }

    let seed: UInt64
    /// What stands before the servers, and may answer in their place.
    private let front: Front.Manner?
    private let state = Locked(State())
    let office: TokenOffice

    init(seed: UInt64, behind front: Front.Manner? = nil) {
        self.seed = seed
        self.front = front
        office = TokenOffice(seed: seed)
    }

    // MARK: - What the server sees

    /// The server has got a request.
    ///
    /// - Returns: How often it got this request before.
    func received(_ name: RequestName, _ reception: Reception) -> Int {
        state.with { state in
            state.receptions += 1
            if state.makers[name.process]?.isDone(name.number) == true {
                violated(&state, "\(name) came to the server after its caller had its response", [reception])
            }
            let count = state.entries[name, default: Entry()].receptions.count
            state.entries[name, default: Entry()].receptions.append(reception)
            if state.entries[name]?.isNeverSent == true {
                violated(&state, "\(name) came to the server, and was said to have never been sent", [reception])
            }
            judge(reception, name, &state)
            return count
        }
    }

    /// The server knows how it answers what it got.
    func answers(_ name: RequestName, _ index: Int, with status: Int, isWhole: Bool) {
        state.with { state in
            guard let entry = state.entries[name], index < entry.receptions.count else { return }
            state.entries[name]?.receptions[index].status = status
            state.entries[name]?.receptions[index].isWhole = isWhole
        }
    }

    /// Something happened that the account counts.
    func count(_ event: String) { state.with { $0.events[event, default: 0] += 1 } }

    func violated(_ text: String) { state.with { violated(&$0, text, []) } }

    private func violated(_ state: inout State, _ text: String, _ receptions: [Reception], _ story: String = "") {
        state.violations += 1
        var story =
            "VIOLATION (seed \(seed)): \(text)"
            + (story.isEmpty ? "" : "\n    \(story)")
        for reception in receptions { story += "\n    the server got: \(describe(reception))" }
        if state.firstViolation == nil { state.firstViolation = story }
        if state.violations <= 20 { say(story) }
    }

    private func describe(_ reception: Reception) -> String {
        let token = reception.token.map { "\($0), of \(office.owner(of: $0.family) ?? "nobody")" } ?? "no token"
        return "\(reception.method) with \(token)"
            + (reception.cookie.map { ", a cookie of session \($0)" } ?? "") + ", answered "
            + (reception.status == 0 ? "with nothing" : "\(reception.status)" + (reception.isWhole ? "" : ", cut"))
    }

    // MARK: - What the clients say

    func heard(_ line: Substring, from process: Int) {
        let fields = line.split(separator: "\t", omittingEmptySubsequences: false)
        state.with { state in
            state.makers[process, default: Maker()].lines += 1
            let words = fields.dropFirst().map(String.init)
            switch (fields.first, words.count) {
            case ("B", 4): began(words, process, &state)
            case ("E", 7): ended(words, process, &state)
            case ("R", 2): office.lost(by: process, store: words[0], at: Int64(words[1]) ?? 0)
            case ("C", 1):
                state.events[words[0], default: 0] += 1
                if front == .gentle, words[0] == "sign-ins that failed" {
                    violated(&state, "process \(process): a sign-in failed, though nothing went wrong", [])
                }
            case ("V", 1): violated(&state, "process \(process): \(words[0])", [])
            case ("S", 5), ("Z", 5):
                let numbers = words.compactMap { Int($0) }
                guard numbers.count == 5 else { fallthrough }
                let sample = Sample(
                    requests: numbers[0], residentBytes: numbers[1], descriptors: numbers[2], threads: numbers[3],
                    pooled: numbers[4] - numbers[3])
                if fields.first == "S" {
                    state.makers[process, default: Maker()].samples.append(sample)
                } else if state.makers[process]?.baseline == nil {
                    state.makers[process, default: Maker()].baseline = sample
                } else {
                    left(sample, process, &state)
                }
            default: violated(&state, "process \(process) says what nobody understands: \(line)", [])
            }
        }
    }

    private func began(_ words: [String], _ process: Int, _ state: inout State) {
        guard let name = RequestName(words[0]), let kind = Kind(rawValue: words[1]), let wire = RequestName(words[3])
        else { return violated(&state, "not a request: \(words)", []) }
        var entry = state.entries[name] ?? Entry()
        entry.kind = kind
        entry.store = words[2]
        entry.wire = wire
        entry.line = state.makers[process]?.lines ?? 0
        state.entries[name] = entry
        if wire != name, state.entries[wire]?.kind == nil {
            var shared = state.entries[wire] ?? Entry()
            shared.kind = kind
            shared.store = entry.store
            shared.line = entry.line
            state.entries[wire] = shared
        }
        state.makers[process]?.open.insert(name)
        state.began[kind, default: 0] += 1
        state.open += 1
        state.mostOpen = max(state.mostOpen, state.open)
    }

    private func ended(_ words: [String], _ process: Int, _ state: inout State) {
        guard let name = RequestName(words[0]) else { return violated(&state, "not a request: \(words)", []) }
        let (outcome, delivery, detail) = (words[1], words[2], words[6])
        let allowed = Set(words[3].split(separator: ",").compactMap { Int($0) })
        let seen = Set(words[4].split(separator: ",").compactMap { Int($0) })
        guard var entry = state.entries[name], let kind = entry.kind, entry.outcome == nil,
            state.makers[process]?.open.remove(name) != nil
        else {
            return violated(
                &state, "\(name) ended twice, or without having begun: now with \(outcome) \(detail)",
                state.entries[name]?.receptions ?? [],
                "before: \(state.entries[name]?.outcome ?? "ended well, or never")")
        }
        let story =
            "\(kind.rawValue) of \(entry.store), ended with \(outcome) \(delivery) \(detail), "
            + "may belong to \(allowed.sorted()), saw \(seen.sorted())"
        state.open -= 1
        entry.outcome = outcome
        entry.allowed = allowed
        state.entries[name] = entry
        state.outcomes[outcome, default: 0] += 1
        let wire = entry.wire ?? name
        let receptions = wire == name ? entry.receptions : state.entries[wire]?.receptions ?? []

        // Whose the response is.
        for family in seen where !allowed.isEmpty || kind.isSigned {
            if !isAllowed(family, allowed, entry.store) {
                violated(
                    &state, "\(name) got the response of session \(family), which isn't its own", receptions, story)
            }
        }
        if outcome == "ok" {
            let matches = receptions.contains { reception in
                (200...299).contains(reception.status) && reception.isWhole
                    && (!kind.isSigned || kind == .leave || seen.contains(reception.token?.family ?? -1))
            }
            // A stream that its reader has left need not be whole.
            let isStream = kind == .stream && receptions.contains { (200...299).contains($0.status) }
            if !matches && !isStream {
                violated(&state, "\(name) has a response that the server never gave", receptions, story)
            }
        } else if outcome.hasPrefix("status:"), let status = Int(outcome.dropFirst(7)) {
            if !receptions.contains(where: { $0.status == status }), front == nil || !(502...504).contains(status) {
                violated(&state, "\(name) has a status that the server never gave", receptions, story)
            }
        } else if outcome.hasPrefix("bad:") {
            violated(&state, "\(name) ended with what can't be", receptions, story)
        }
        // The error of a stream's reconnection speaks of that one only.
        let isReconnection = kind == .stream && receptions.contains { $0.status == 200 }
        if delivery == "notSent", !kind.isShared, !isReconnection {
            state.entries[name]?.isNeverSent = true
            if !receptions.isEmpty {
                violated(&state, "\(name) is said to have never been sent", receptions, story)
            }
        }
        let isAboutTheWay = ["session:", "transfer:", "status:5", "auth:refreshFailed", "auth:waitedTooLong"]
            .contains { outcome.hasPrefix($0) }
        if front == .gentle, isAboutTheWay, !kind.isPartial {
            violated(&state, "\(name) failed, though nothing went wrong", receptions, story)
        }
        if wire == name {
            for reception in receptions { judge(reception, name, &state) }
            learnOfDeadTokens(receptions, outcome, delivery, process, &state)
            // Nothing of it may come later, unless the server took its time to read an earlier attempt.
            if outcome == "ok" || outcome.hasPrefix("status:"), kind.isOnce || words[5] == "once" {
                state.entries[name] = nil
                state.makers[process]?.setDone(name.number)
            }
        } else {
            // The request that they share stays.
            state.entries[name] = nil
            state.makers[process]?.setDone(name.number)
        }
    }

    private func isAllowed(_ family: Int, _ allowed: Set<Int>, _ store: String) -> Bool {
        allowed.contains(family) || (allowed.contains(Door.anyone) && office.store(of: family) == store)
    }

    /// Looks at what the server got, as soon as the client has said what it may be.
    private func judge(
        _ reception: Reception, _ name: RequestName, _ state: inout State
    ) {
        guard let entry = state.entries[name], let kind = entry.kind else { return }
        let story = "\(kind.rawValue) of \(entry.store), ended with \(entry.outcome ?? "nothing yet")"
        if let token = reception.token {
            if office.store(of: token.family) != entry.store {
                violated(&state, "\(name) came with a token of another store", entry.receptions, story)
            }
            if entry.outcome != nil, !kind.isShared, !isAllowed(token.family, entry.allowed, entry.store) {
                violated(
                    &state, "\(name) came with the token of somebody else", entry.receptions,
                    story + ", may belong to \(entry.allowed.sorted())")
            }
            if let line = state.makers[name.process]?.dead[token], line < entry.line {
                violated(
                    &state, "\(name) came with \(token), which this client knew to be dead when it made the request",
                    entry.receptions, story)
            }
        }
        if let cookie = reception.cookie {
            let isMine =
                reception.token.map { cookie == $0.family } ?? (entry.outcome == nil)
                || isAllowed(cookie, entry.allowed, entry.store) || entry.store == "desk"
            if !isMine {
                violated(&state, "\(name) came with a cookie of another session", entry.receptions, story)
            }
        }
        if kind.isOnce, !entry.isReported, entry.receptions.count(where: { !$0.isRefused }) > 1 {
            state.entries[name]?.isReported = true
            violated(&state, "\(name) must not be sent twice", entry.receptions, story)
        }
    }

    /// What the client has read: a 401 for the first attempt, when it went on with another
    /// token or has told its caller.
    private func learnOfDeadTokens(
        _ receptions: [Reception], _ outcome: String, _ delivery: String, _ process: Int, _ state: inout State
    ) {
        guard let index = receptions.firstIndex(where: { $0.status == 401 }), let token = receptions[index].token
        else { return }
        let hasGoneOn = receptions[index...].contains { $0.token != nil && $0.token != token }
        guard hasGoneOn || outcome == "status:401" || (outcome.hasPrefix("auth:") && delivery == "answered")
        else { return }
        let line = state.makers[process]?.lines ?? 0
        if state.makers[process]?.dead[token] == nil { state.makers[process]?.dead[token] = line }
    }

    /// A client has ended what it did.
    private func left(_ sample: Sample, _ process: Int, _ state: inout State) {
        state.makers[process]?.isOver = true
        guard let before = state.makers[process]?.baseline else { return }
        if sample.requests > 0 {
            violated(&state, "process \(process): \(sample.requests) requests have not ended", [])
        }
        if sample.descriptors > before.descriptors {
            violated(
                &state, "process \(process): \(sample.descriptors) descriptors, and \(before.descriptors) at the start",
                [])
        }
        if sample.threads > before.threads {
            violated(&state, "process \(process): \(sample.threads) threads, and \(before.threads) at the start", [])
        }
        state.events["clients that left nothing", default: 0] += 1
    }

    /// A process is about to be killed: its open requests will never end.
    func killed(_ process: Int) {
        state.with { state in
            state.makers[process, default: Maker()].isKilled = true
            state.events["kills", default: 0] += 1
        }
    }

    /// Nothing more comes from a process.
    func gone(_ process: Int, how: String?) {
        state.with { state in
            let maker = state.makers[process] ?? Maker()
            state.makers[process]?.dead = [:]
            if maker.isKilled {
                state.open -= maker.open.count
                state.outcomes["killed with its process", default: 0] += maker.open.count
                for name in maker.open { state.entries[name] = nil }
                state.makers[process]?.open = []
            } else if let how {
                violated(&state, "process \(process) was not to end: \(how)", [])
            } else if !maker.isOver {
                violated(&state, "process \(process) ended without an account", [])
            }
        }
    }

    // MARK: - The end

    var hasViolation: Bool { state.value.violations > 0 }

    /// Judges what can be judged only now, and prints the account.
    ///
    /// - Returns: Whether there is no violation.
    func close(seconds: Double, soak: Int?) -> Bool {
        state.with { state in
            for (process, maker) in state.makers {
                for name in maker.open.prefix(5) where !maker.isKilled {
                    violated(&state, "\(name) never ended", state.entries[name]?.receptions ?? [])
                }
                if soak != nil { judgeGrowth(maker.samples, process, &state) }
            }
            for (name, entry) in state.entries where entry.kind == nil && state.makers[name.process]?.isKilled != true {
                violated(&state, "\(name) came to the server, and nobody had made it", entry.receptions)
            }
            for text in office.unexcused() { violated(&state, text, []) }
        }
        let state = state.value
        let total = state.began.values.reduce(0, +)
        var page = ["", "chaos: \(total) requests in \(Int(seconds)) s, seed \(seed)"]
        func table(_ title: String, _ numbers: [String: Int]) {
            page.append("  \(title)")
            for (name, count) in numbers.sorted(by: { $0.key < $1.key }) where count > 0 {
                page.append("    " + name.padding(toLength: 50, withPad: " ", startingAt: 0) + "\(count)")
            }
        }
        table("made", Dictionary(uniqueKeysWithValues: state.began.map { ($0.key.rawValue, $0.value) }))
        table("ended", state.outcomes)
        var events = state.events.merging(office.events) { $0 + $1 }
        events["times that the server got a request"] = state.receptions
        events["requests in flight at most"] = state.mostOpen
        table("meanwhile", events)
        let open = total - state.outcomes.values.reduce(0, +)
        page.append("  without an end: \(open)")
        for (process, maker) in state.makers.sorted(by: { $0.key < $1.key }) {
            guard soak != nil, let first = maker.samples.first, let last = maker.samples.last else { continue }
            page.append(
                "  process \(process): \(Self.text(first)) at first, \(Self.text(last)) at last, most "
                    + "\((maker.samples.map(\.residentBytes).max() ?? 0) >> 20) MiB, "
                    + "\(maker.samples.map(\.descriptors).max() ?? 0) descriptors, "
                    + "\(maker.samples.map(\.threads).max() ?? 0) threads and "
                    + "\(maker.samples.map(\.pooled).max() ?? 0) of pools")
        }
        page.append("  violations: \(state.violations)")
        if let first = state.firstViolation { page += ["  the first one:", first] }
        say(page.joined(separator: "\n"))
        return state.violations == 0
    }

    private static func text(_ sample: Sample) -> String {
        "\(sample.residentBytes >> 10) KiB, \(sample.descriptors) descriptors and \(sample.threads) threads "
            + "and \(sample.pooled) of pools after \(sample.requests) requests"
    }

    /// Memory, descriptors and threads must be as flat in the last quarter as after the
    /// warm-up.
    private func judgeGrowth(_ samples: [Sample], _ process: Int, _ state: inout State) {
        guard samples.count >= 16, let last = samples.last else {
            return violated(&state, "process \(process): too few samples to judge, \(samples.count)", [])
        }
        let early = samples.filter { (last.requests / 8...last.requests / 4).contains($0.requests) }
        let late = samples.filter { $0.requests >= last.requests * 3 / 4 }
        func judge(_ what: String, _ value: (Sample) -> Int, slack: Int) {
            let (before, after) = (early.map(value).sorted(), late.map(value).sorted())
            guard let most = before.last, !after.isEmpty else { return }
            let middle = after[after.count / 2]
            if middle > most + slack {
                violated(&state, "process \(process): \(what) grew from \(most) to \(middle)", [])
            }
        }
        judge("memory in KiB", { $0.residentBytes >> 10 }, slack: 4_096)
        judge("the number of descriptors", \.descriptors, slack: 8)
        judge("the number of threads", \.threads, slack: 0)
    }
}

/// Prints a line at once.
func say(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }
