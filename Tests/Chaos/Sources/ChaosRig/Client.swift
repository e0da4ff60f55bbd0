import AtomNetworking
import Foundation

/// A process with some sessions, whose requests run until its time is over.
///
/// The one that is called `steady` is left alone, and must leave nothing behind. The one
/// called `mortal` is killed again and again.
struct Client {
    private let options: Options
    private let isSteady: Bool
    private let work: Work
    private let end: MonotonicInstant

    private var isCalm: Bool { options.soak != nil }
    private var isGentle: Bool { options.front == .gentle }

    init(_ options: Options) {
        self.options = options
        isSteady = options.client == "steady"
        guard let work = try? Work(options) else { preconditionFailure("not a port: \(options.port)") }
        self.work = work
        end = .now.advanced(by: .seconds(options.seconds))
    }

    private var isOver: Bool {
        if let count = options.soak { work.made >= count } else { MonotonicInstant.now >= end }
    }

    func run() async {
        // What a first request brings with it stays: it is measured after one.
        await visit()
        await quiet(atMost: nil)
        let before = (Usage.descriptors, Usage.ownThreads)
        Report.line("Z", "0", "\(Usage.residentBytes)", "\(before.0)", "\(before.1)", "0")
        let left = await live()
        guard isSteady else {
            return Report.line("Z", "\(left)", "\(Usage.residentBytes)", "\(before.0)", "\(before.1)", "0")
        }
        await quiet(atMost: before)
        let after = (Usage.descriptors, Usage.ownThreads)
        if after.0 > before.0 { Report.violation("open at the end: \(Usage.openFiles)") }
        if after.1 > before.1 { Report.violation("threads at the end: \(Usage.threadNames)") }
        Report.line("Z", "\(left)", "\(Usage.residentBytes)", "\(after.0)", "\(after.1)", "0")
    }

    /// Uses everything once, so that what is kept for the process is there.
    private func visit() async {
        let doors = makeDoors()
        let open = Atom(serviceConfiguration: configuration(.none, "open").0)
        for door in doors where door.name != "desk" { await door.signIn(door.people[0], over: open, at: work.base) }
        var chance = Chance(options.seed, UInt64(options.process), 7)
        for door in doors where door.name != "desk" {
            await withTaskGroup(of: Void.self) { group in
                for kind in Kind.allCases {
                    let dice = Chance(chance.next())
                    group.addTask {
                        var dice = dice
                        await work.one(kind, door, &dice)
                    }
                }
            }
        }
        for door in doors where door.name != "desk" { await door.signOut() }
    }

    /// Waits until the threads and the connections of what was released are gone.
    private func quiet(atMost limit: (descriptors: Int, threads: Int)?) async {
        var last = (0, 0)
        var same = 0
        for _ in 0..<120 {
            try? await Task.sleep(for: .milliseconds(500))
            let now = (Usage.descriptors, Usage.ownThreads)
            if let limit {
                if now.0 <= limit.descriptors, now.1 <= limit.threads { return }
            } else {
                same = now == last ? same + 1 : 0
                if same >= (isSteady ? 6 : 0) { return }
            }
            last = now
        }
    }

    /// - Returns: How many requests have not ended.
    private func live() async -> Int {
        let doors = makeDoors()
        let open = Atom(serviceConfiguration: configuration(.none, "open").0)
        let lanes = isCalm ? 48 : isSteady ? 40 : 20
        await withTaskGroup(of: Void.self) { group in
            for door in doors {
                group.addTask { await guardDoor(door, open) }
                for number in 0..<lanes / doors.count {
                    group.addTask { await lane(door, number) }
                }
            }
            if isCalm {
                group.addTask { await sample() }
            } else {
                group.addTask { await storms(doors) }
                group.addTask { await setClocks() }
            }
        }
        for door in doors { for atom in door.atoms { await atom.finishRefresh(within: .seconds(10)) } }
        return doors.reduce(0) { $0 + $1.watches.reduce(0) { $0 + $1.open } }
    }

    // MARK: - What is in use

    private func configuration(_ method: AuthenticationMethod, _ store: String) -> (ServiceConfiguration, Watch) {
        var configuration = ServiceConfiguration(
            authenticationMethod: method, dispatchQueue: DispatchQueue(label: "chaos.completions"),
            timeout: isGentle ? ServiceTimeout(request: 20, resource: 40) : ServiceTimeout(request: 4, resource: 15))
        guard let transport = try? options.front == nil ? options.makeTransport() : Front.transport(options.folder)
        else { preconditionFailure("no \(options.transport)") }
        configuration.transport = transport
        let watch = Watch(store)
        configuration.observers = [watch]
        configuration.timeSource = Clock.shared
        configuration.retryPolicy = RetryPolicy(
            maximumAttempts: 3, baseDelay: .milliseconds(20), throttledBaseDelay: .milliseconds(200), quota: 5_000)
        return (configuration, watch)
    }

    private func makeDoors() -> [Door] {
        func file(_ name: String) -> FileTokenCredentialStore {
            FileTokenCredentialStore(fileURL: work.folder.appendingPathComponent("\(name).json"))
        }
        return isSteady
            ? [
                door("desk", ["ada"], file("desk"), isShared: true),
                door("till", ["ada", "bob"], file("till")),
                door("pocket", ["bob", "ada"], InMemoryTokenCredentialStore()),
            ]
            : [
                door("desk", ["ada"], file("desk"), isShared: true),
                door("stall", ["bob", "ada"], file("stall"), isKept: true),
            ]
    }

    /// Two services share each session; one of them retries.
    private func door(
        _ name: String, _ people: [String], _ store: any TokenCredentialStore, isShared: Bool = false,
        isKept: Bool = false
    ) -> Door {
        guard
            let endpoint = try? AuthorizationEndpoint(
                scheme: work.base.scheme, host: "127.0.0.1", port: options.port, path: "/token"),
            let revocation = try? AuthorizationEndpoint(
                scheme: work.base.scheme, host: "127.0.0.1", port: options.port, path: "/revoke")
        else { preconditionFailure("not a port: \(options.port)") }
        var bearer = BearerAuthentication(endpoint: endpoint, client: ClientCredential(id: name), store: store)
        if name != "desk" { bearer.revocationEndpoint = revocation }
        bearer.parameters = [QueryItem(name: "process", value: "\(options.process)")]
        bearer.deadline = .seconds(isGentle ? 30 : 8)
        bearer.fruitlessRefreshWindow = .seconds(2)
        var (retrying, watch) = configuration(.bearer(bearer), name)
        var (plain, otherWatch) = configuration(.bearer(bearer), name)
        retrying.maximumExchangesPerOrigin = 24
        plain.maximumExchangesPerOrigin = 24
        plain.retryPolicy = .none
        return Door(
            name, people, isShared: isShared, isKept: isKept,
            atoms: [Atom(serviceConfiguration: retrying), Atom(serviceConfiguration: plain)],
            watches: [watch, otherWatch])
    }

    // MARK: - What goes on

    /// Signs somebody in if nobody is, and changes people.
    private func guardDoor(_ door: Door, _ open: Atom) async {
        var chance = Chance(options.seed, UInt64(options.process), 3, UInt64(door.name.utf8.count))
        var next = 0
        while !isOver {
            // Another process may have signed in.
            let state = try? await door.atoms[0].loadSession()
            switch state {
            case .signedIn, .refreshing:
                if chance.happens(isCalm ? 0.02 : door.name == "desk" ? 0.02 : 0.2) {
                    next += 1
                    if chance.happens(0.5) { await door.signOut() } else { fallthrough }
                }
            default:
                async let callers: Void = work.straddle(door)
                await door.signIn(door.people[next % door.people.count], over: open, at: work.base)
                await callers
            }
            try? await Task.sleep(for: .milliseconds(chance.number(20...500)))
        }
    }

    private func lane(_ door: Door, _ number: Int) async {
        var chance = Chance(options.seed, UInt64(options.process), 5, UInt64(number), UInt64(door.name.utf8.count))
        while !isOver {
            await work.one(kind(&chance), door, &chance)
            if !isCalm { try? await Task.sleep(for: .milliseconds(chance.number(0...60))) }
        }
    }

    private func kind(_ chance: inout Chance) -> Kind {
        if isCalm {
            return switch chance.number(0...999) {
            case 0..<100: .completion
            case 100..<150: .post
            case 150..<200: .open
            case 200..<210: .put
            case 210..<220: .hop
            case 220..<223: .leave
            case 223..<225: .shared
            case 225..<226: .stream
            case 226..<227: .download
            case 227..<228: .resumed
            default: .get
            }
        }
        return switch chance.number(0...99) {
        case 0..<12: .completion
        case 12..<26: .post
        case 26..<32: .put
        case 32..<40: .open
        case 40..<45: .hop
        case 45..<49: .postHop
        case 49..<53: .leave
        case 53..<57: .shared
        case 57..<64: .stream
        case 64..<68: .download
        case 68..<74: .resumed
        default: .get
        }
    }

    /// Now and then a hundred or two requests at once.
    private func storms(_ doors: [Door]) async {
        var chance = Chance(options.seed, UInt64(options.process), 11)
        while !isOver {
            try? await Task.sleep(for: .milliseconds(chance.number(500...3_000)))
            let door = doors[chance.number(0...(doors.count - 1))]
            let dice = (0..<chance.number(50...200)).map { _ in Chance(chance.next()) }
            Report.count("storms")
            await withTaskGroup(of: Void.self) { group in
                for dice in dice {
                    group.addTask {
                        var dice = dice
                        await work.one(dice.happens(0.2) ? .post : .get, door, &dice)
                    }
                }
            }
        }
    }

    private func setClocks() async {
        var chance = Chance(options.seed, UInt64(options.process), 13)
        while !isOver {
            try? await Task.sleep(for: .milliseconds(chance.number(300...2_000)))
            Clock.shared.set(chance.happens(0.3) ? 0 : Double(chance.number(-100_000...100_000)))
            Report.count("times that a clock was set")
        }
    }

    private func sample() async {
        while !isOver {
            Report.line(
                "S", "\(work.made)", "\(Usage.residentBytes)", "\(Usage.descriptors)", "\(Usage.ownThreads)",
                "\(Usage.threadNames.count)")
            try? await Task.sleep(for: .seconds(1))
        }
    }
}
