import AirlineServer
import ArgumentParser
import AtomNetworking
import Foundation
import Terminal

/// One of the processes that `atom processes` starts: it sends requests with
/// the shared session until its standard input is closed.
///
/// The system also closes the input when the process at its other end is
/// killed.
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
        // Children inherit ignored signals. This process learns of Ctrl-C when
        // its input is closed.
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
        // Running requests get their responses; if that takes too long, the
        // process ends without them.
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
            // A user would take longer to sign in again.
            if result.error != nil { try? await Task.sleep(for: .milliseconds(50)) }
        }
    }
}

/// Numbers requests and reports their results.
private final class WorkerTally: @unchecked Sendable {
    // The following properties are accessed only under `lock`.
    private let lock = NSLock()
    private var last = 0
    private var answered = 0
    private var isStopped = false

    /// The next number, from 1; `nil` when no more requests are to be sent.
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
        case .success: report(.failed("A request got the response to another request."))
        case .failure(.authentication(.refreshRejected(let error, _))):
            report(.ended(.rejected, error.description))
        case .failure(.authentication(.refreshInterrupted(let error, _))):
            report(.ended(.interrupted, error.description))
        case .failure(let error): report(.failed(error.description))
        }
    }

    /// Reports the responses since the last report.
    func flush() {
        let count = lock.withLock {
            defer { answered = 0 }
            return answered
        }
        if count > 0 { report(.answered(count)) }
    }

    /// Writes one complete line at a time, under the lock.
    private func report(_ report: WorkerReport) {
        lock.withLock {
            FileDescriptorOutput.write(
                Data((report.line + "\n").utf8), to: FileHandle.standardOutput.fileDescriptor)
        }
    }
}
