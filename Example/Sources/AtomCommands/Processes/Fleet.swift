import AirlineServer
import AtomNetworking
import Foundation

/// Processes that share one session, and the server that counts their requests.
actor Fleet {
    struct Plan: Sendable {
        var count: Int
        var seconds: Double
        var tokenLifetime = 2.0
        var gracePeriod = 0.0
        var tokenDelayMilliseconds = 0
        var killEvery: Double?
        var seed: UInt64 = 1
        var concurrency = 4
        var workMilliseconds = 100
        var executable: URL

        var treatment: ProcessesReport.Treatment {
            killEvery == nil ? .unharmed : gracePeriod > 0 ? .killedWithGrace : .killedStrictly
        }
    }

    /// The public client, because the arguments of a process must not contain a
    /// secret.
    private static let clientID = OAuthClient.publicExample.id

    private let plan: Plan
    private let server: AirlineServer
    private let file: SessionFile
    private let profile: SessionFile.Profile
    private let session: Atom
    private let onAnswers: @Sendable () -> Void
    private var report: ProcessesReport
    private var workers: [Int: WorkerProcess] = [:]
    private var killed: Set<Int> = []
    private var isEnding = false
    /// The number of sessions so far, including this one.
    private var sessions = 0

    private init(_ plan: Plan, server: AirlineServer, folder: URL, _ onAnswers: @escaping @Sendable () -> Void) throws {
        self.plan = plan
        self.onAnswers = onAnswers
        self.server = server
        file = SessionFile(url: folder.appendingPathComponent("session.json"))
        profile = SessionFile.Profile(server: server.baseURL, clientID: Self.clientID)
        session = try file.atom(for: profile)
        report = ProcessesReport(treatment: plan.treatment, processes: plan.count)
    }

    /// Runs the processes for the planned time, or until the task is cancelled;
    /// all of them have ended when it returns or throws.
    ///
    /// - Parameter onAnswers: Called whenever a process reports responses.
    /// - Throws: An error if the processes can't be started.
    static func run(
        _ plan: Plan, onAnswers: @escaping @Sendable () -> Void = {}
    ) async throws -> ProcessesReport {
        var configuration = ServerConfiguration()
        configuration.policy.accessTokenLifetime = plan.tokenLifetime
        configuration.policy.gracePeriod = plan.gracePeriod
        let server = try await AirlineServer.start(configuration)
        server.updateFaults { $0.delayMilliseconds = plan.tokenDelayMilliseconds }
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("atom-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        do {
            let report = try await Fleet(plan, server: server, folder: folder, onAnswers).run()
            await server.stop()
            return report
        } catch {
            await server.stop()
            throw error
        }
    }

    private func run() async throws -> ProcessesReport {
        let stopwatch = Stopwatch()
        try await signIn()
        // Separate tasks, so that a cancellation doesn't prevent them from
        // waiting for their processes.
        let clock = Task { await stopwatch.sleep(until: plan.seconds) }
        let berths = (1...plan.count).map { number in
            Task {
                do {
                    try await self.man(number)
                } catch {
                    // If the first start fails, all later ones fail too.
                    clock.cancel()
                    throw error
                }
            }
        }
        let killer = Task { await self.killAtRandom() }
        await withTaskCancellationHandler {
            await clock.value
        } onCancel: {
            clock.cancel()
        }
        killer.cancel()
        await killer.value
        await settle()
        isEnding = true
        for worker in workers.values { worker.finish() }
        let limit = Task {
            try await Task.sleep(for: .seconds(15))
            self.killAll()
        }
        var failure: (any Error)?
        for berth in berths {
            do { try await berth.value } catch { failure = error }
        }
        limit.cancel()
        if let failure { throw failure }
        report.seconds = stopwatch.seconds
        report.server = server.counters
        return report
    }

    // MARK: Processes

    /// Keeps one process running, and starts another one if it is killed.
    private func man(_ number: Int) async throws {
        while !isEnding {
            let worker = try WorkerProcess(
                plan.executable,
                [
                    "processes-worker", "--server", server.baseURL, "--session-file", file.url.path,
                    "--client-id", Self.clientID, "--concurrency", "\(plan.concurrency)",
                    "--work", "\(plan.workMilliseconds)",
                ])
            workers[number] = worker
            for await line in worker.lines { await heard(line) }
            let status = await worker.waitUntilExit()
            workers[number] = nil
            let wasKilled = killed.remove(number) != nil
            if !wasKilled, !isEnding || status != 0 {
                report.crashes += 1
                // A process that fails at once would be restarted in a loop.
                try? await Task.sleep(for: .seconds(1))
            }
        }
    }

    private func killAtRandom() async {
        guard let mean = plan.killEvery else { return }
        var generator = SeededGenerator(seed: plan.seed)
        while !Task.isCancelled {
            let pause = Double.random(in: 0.5...1.5, using: &generator) * mean
            guard (try? await Task.sleep(for: .seconds(pause))) != nil else { return }
            let number = Int.random(in: 1...plan.count, using: &generator)
            guard let worker = workers[number], killed.insert(number).inserted else { continue }
            worker.kill()
            report.kills += 1
        }
    }

    private func killAll() {
        for worker in workers.values { worker.kill() }
    }

    /// Waits for effects of the last kill: a response that is still being sent,
    /// and a session that has ended and isn't reported yet.
    private func settle() async {
        guard plan.killEvery != nil, !Task.isCancelled else { return }
        let stopwatch = Stopwatch()
        let delay = Double(plan.tokenDelayMilliseconds) / 1000
        await stopwatch.sleep(until: plan.tokenLifetime + 2 * delay + 0.5)
        while server.counters.familiesRevoked > report.interrupted + report.rejected, stopwatch.seconds < 15 {
            guard (try? await Task.sleep(for: .milliseconds(50))) != nil else { return }
        }
    }

    // MARK: The session

    private func heard(_ line: String) async {
        switch WorkerReport(line: line) {
        case .answered(let count):
            report.answered += count
            onAnswers()
        case .failed(let reason): report.failures[reason, default: 0] += 1
        case .ended(let ending, _): await sessionEnded(ending)
        case nil: report.failures["A process said: \(ResponsePrinter.printable(line))", default: 0] += 1
        }
    }

    /// A process reported that the session has ended.
    ///
    /// Each sign-in is a token family on the server. So the server knows
    /// whether this session has ended, or whether the report is about an
    /// earlier one.
    private func sessionEnded(_ ending: WorkerReport.Ending) async {
        report.refused += 1
        guard server.counters.familiesRevoked == sessions, report.interrupted + report.rejected < sessions else {
            if ending != .interrupted { report.contradictions += 1 }
            return
        }
        switch ending {
        case .interrupted: report.interrupted += 1
        case .rejected: report.rejected += 1
        }
        guard !isEnding else { return }
        do {
            try await signIn()
        } catch {
            report.failures["Signing in again failed: \(error)", default: 0] += 1
        }
    }

    /// Signs in here; the processes find the new tokens in the file.
    private func signIn() async throws {
        sessions += 1
        let user = NameAndSecret.exampleUser
        let login = PasswordLogin(airline: try profile.airline(), clientID: Self.clientID, user: user.name, attempts: 1)
        { _ in user.secret }
        try await session.signIn(with: try await login.credential(replacing: nil))
    }
}
