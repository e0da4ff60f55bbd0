import Foundation

/// Starts the servers and the clients, makes the weather, and keeps the books.
///
/// A client that is left alone has three sessions: `desk`, whose file another process
/// shares, and `till` (a file) and `pocket` (memory), in which two people sign in and out.
/// A second client, with `desk` and `stall`, is killed again and again. Each session has two
/// services, of which one retries. The same seed makes the same decisions; in which order
/// they meet is the machine's.
///
/// What ``Books`` watches over:
///
/// - Each request ends once, with the response that the server gave it, of the session that
///   it belongs to, or with a typed error.
/// - What is said to be not sent never came to the server.
/// - A POST comes once, unless it was answered with a 401 or a redirect, and with its body.
/// - No request that was made after a 401 for a token was read carries it, none carries the
///   cookie or the token of another session, and none takes either to another origin.
/// - One refresh at a time is made for a session, and a spent refresh token comes again only
///   after a response was lost, or the process was killed that had sent it.
/// - At the end no request, descriptor or thread is left.
/// - Behind a gentle ``Front`` nothing fails for what happens on the way, whatever is refused.
///
/// Faults that were planted in a copy of the SDK, with what found them in the short form:
///
/// - A POST is idempotent: *must not be sent twice*, after a second.
/// - A lost connection is `notSent`: the same.
/// - A completion is called twice: *ended twice*.
/// - Requests of two people share: *got the response of session …, which isn't its own*.
/// - Requests that wait aren't refused at a sign-in: the same.
/// - A sign-in begins no new generation: *got an event of session … when it was over*.
/// - Two services with one store have two sessions: *came with the token of somebody else*.
/// - Processes don't lock the file: *the spent refresh token came again, which was in use*.
/// - A new credential isn't stored: the same.
/// - A rejected token isn't marked: *which this client knew to be dead*.
/// - Cookies survive a sign-in: *came with a cookie of another session*.
/// - A redirect to another origin stays signed: *took its Authorization to another origin*.
/// - A service is never released: descriptors and threads are left.
final class Director: Sendable {
    private let options: Options
    private let books: Books
    private let began = TokenOffice.now

    init(_ options: Options) {
        self.options = options
        books = Books(seed: options.seed, behind: options.front)
    }

    private var isCalm: Bool { options.soak != nil }
    private var elapsed: Double { Double(TokenOffice.now - began) / 1e9 }
    private var isOver: Bool { books.hasViolation || !isCalm && elapsed >= options.seconds }

    /// - Returns: Whether the account is as it must be.
    func run() async -> Bool {
        say(
            "chaos: over \(options.transport), seed \(options.seed), "
                + (options.soak.map { "a soak of \($0) requests" } ?? "\(Int(options.seconds)) s")
                + (options.ownsNetwork ? ", on a network of its own" : "")
                + (options.front.map { ", over HTTP/2 with a front that is \($0)" } ?? ""))
        var options = options
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("chaos-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let server: ChaosServer
        let front: Front?
        do {
            try FileManager.default.createDirectory(
                at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            front = try options.front.map { try Front($0, in: folder) }
            server = try ChaosServer(books, isCalm: isCalm, behind: front)
            var chance = Chance(options.seed, 29)
            try await front?.start(before: server, &chance)
        } catch {
            say("chaos can't begin: \(error)")
            return false
        }
        options.folder = folder.path
        options.port = front?.ports[0] ?? server.port
        options.otherPort = front?.ports[1] ?? server.otherPort
        let settings = options
        let network = Locked<Network?>(options.ownsNetwork ? Network() : nil)
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.live("steady", process: 1, settings) }
            if !isCalm {
                group.addTask { await self.killAgainAndAgain(settings) }
                group.addTask { await self.disturb(server) }
                if let front { group.addTask { await self.restart(front, before: server) } }
                if network.value != nil {
                    group.addTask { await self.change(network) }
                }
            }
            await group.waitForAll()
        }
        front?.stop()
        server.stop()
        for reason in server.malformedReasons { books.violated("the server got what isn't HTTP: \(reason)") }
        network.with { $0 = nil }
        return books.close(seconds: elapsed, soak: options.soak)
    }

    // MARK: - Clients

    /// Runs a client until it ends; returns when all that it said has been heard.
    private func live(
        _ client: String, process number: Int, _ settings: Options, killedAfter seconds: Double? = nil
    ) async {
        let program = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
        let words = settings.arguments(of: client, process: number, seconds: max(1, settings.seconds - elapsed))
        guard let child = Child([program] + words) else { return books.violated("process \(number) can't be run") }
        let killer = Task {
            let end = seconds.map { elapsed + $0 } ?? .infinity
            // After a violation nothing more can be learned.
            while elapsed < end, !books.hasViolation {
                try? await Task.sleep(for: .milliseconds(100))
                if Task.isCancelled { return }
            }
            books.killed(number)
            child.kill()
            books.office.killed(number)
        }
        let how = await withCheckedContinuation { continuation in
            Thread.detachNewThread { [books] in
                continuation.resume(returning: child.wait { books.heard($0, from: number) })
            }
        }
        killer.cancel()
        books.gone(number, how: how)
    }

    private func killAgainAndAgain(_ settings: Options) async {
        var chance = Chance(options.seed, 17)
        var number = 2
        while !isOver, options.seconds - elapsed > 3 {
            let seconds = Double(chance.number(1_500...8_000)) / 1_000
            await live(
                "mortal", process: number, settings, killedAfter: elapsed + seconds < options.seconds ? seconds : nil)
            number += 1
        }
    }

    // MARK: - Weather

    private func disturb(_ server: ChaosServer) async {
        var chance = Chance(options.seed, 19)
        while !isOver {
            try? await Task.sleep(for: .milliseconds(chance.number(200...1_500)))
            switch chance.number(0...9) {
            case 0 where options.front != .gentle:
                server.closeConnections()
                books.count("times that the server closed its kept connections")
            default: books.office.revokeSomething()
            }
        }
    }

    private func restart(_ front: Front, before server: ChaosServer) async {
        var chance = Chance(options.seed, 31)
        while !isOver {
            try? await Task.sleep(for: .milliseconds(chance.number(300...1_500)))
            if front.manner == .rough, chance.happens(0.15) {
                books.count("times that the front was killed")
                front.cut()
            } else {
                books.count("rolling restarts of the front")
                front.restart(before: server, &chance)
            }
        }
    }

    private func change(_ network: Locked<Network?>) async {
        var chance = Chance(options.seed, 23)
        while !isOver {
            try? await Task.sleep(for: .milliseconds(chance.number(1_000...4_000)))
            if let what = network.with({ $0?.change(&chance) }) { books.count("network: \(what)") }
        }
        network.with { $0?.mend() }
    }
}
