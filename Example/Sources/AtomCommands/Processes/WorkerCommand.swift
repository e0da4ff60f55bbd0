import AirlineServer
import ArgumentParser
import AtomNetworking
import Foundation
import Terminal

/// One of the processes that `atom processes` starts: sends requests over the
/// shared session until its standard input is closed.
///
/// The input is a lifeline: it is closed by the system, too, when the process
/// at its other end is killed.
struct WorkerCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "processes-worker",
        abstract: "Sends requests over a session that other processes use too.",
        shouldDisplay: false
    )

    @Option var server: String
    @Option var sessionFile: String
    @Option var clientID: String
    @Option var concurrency: Int
    @Option var work: Int

    func run() async throws {
        // What the parent ignores, its children ignore; this one hears of Ctrl-C by its lifeline.
        signal(SIGTERM, SIG_DFL)
        let profile = SessionFile.Profile(server: server, clientID: clientID)
        let airline = try profile.airline()
        let atom = try SessionFile(path: sessionFile).atom(for: profile)
        let tally = WorkerTally()
        let sending = Task {
            await withTaskGroup(of: Void.self) { group in
                for _ in 0..<concurrency {
                    group.addTask { await send(to: airline, with: atom, tally) }
                }
            }
        }
        let reporting = Task {
            while !Task.isCancelled {
                try? await Task.sleep(for: .milliseconds(100))
                tally.flush()
            }
        }
        await Self.lifelineIsCut()
        // What is on its way gets its answer; if that takes too long, the process ends without.
        DispatchQueue.global().asyncAfter(deadline: .now() + 10) { _exit(1) }
        tally.stop()
        await sending.value
        reporting.cancel()
        await reporting.value
        tally.flush()
    }

    /// Waits for the end of standard input.
    private static func lifelineIsCut() async {
        await withCheckedContinuation { continuation in
            Thread {
                _ = try? FileHandle.standardInput.readToEnd()
                continuation.resume()
            }.start()
        }
    }

    private func send(to airline: Airline, with atom: Atom, _ tally: WorkerTally) async {
        while let number = tally.nextNumber() {
            let endpoint = AccountEndpoint.miles(airline, number: number, milliseconds: work)
            let result = await outcome { () async throws(AtomError) in
                try await atom.enqueue(endpoint).resume(expecting: Miles.self)
            }
            tally.note(result, of: number)
            // A person would take longer to sign in again.
            if result.error != nil { try? await Task.sleep(for: .milliseconds(50)) }
        }
    }
}

/// Hands out the numbers of requests and reports what became of them.
private final class WorkerTally: @unchecked Sendable {
    // What follows is touched under `lock` only.
    private let lock = NSLock()
    private var last = 0
    private var answered = 0
    private var isStopped = false

    /// The next number, from 1; `nil` when no more are to be sent.
    func nextNumber() -> Int? {
        lock.withLock {
            guard !isStopped else { return nil }
            last += 1
            return last
        }
    }

    func stop() {
        lock.withLock { isStopped = true }
    }

    func note(_ result: Result<Miles, AtomError>, of number: Int) {
        switch result {
        case .success(let miles) where miles.number == String(number): lock.withLock { answered += 1 }
        case .success: report(.failed("A request got the answer to another."))
        case .failure(.authentication(.refreshRejected(let error, _))):
            report(.ended(.rejected, error.description))
        case .failure(.authentication(.refreshInterrupted(let error, _))):
            report(.ended(.interrupted, error.description))
        case .failure(let error): report(.failed(error.description))
        }
    }

    /// Reports what was answered since the last time.
    func flush() {
        let count = lock.withLock {
            defer { answered = 0 }
            return answered
        }
        if count > 0 { report(.answered(count)) }
    }

    /// A line at a time: under the lock, and in one piece.
    private func report(_ report: WorkerReport) {
        lock.withLock {
            FileDescriptorOutput.write(
                Data((report.line + "\n").utf8), to: FileHandle.standardOutput.fileDescriptor)
        }
    }
}
