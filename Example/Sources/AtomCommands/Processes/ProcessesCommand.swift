import AirlineServer
import ArgumentParser
import Foundation
import Terminal

/// Runs processes that share one session, and prints the counts.
struct ProcessesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "processes",
        abstract: "Runs several processes that share a session whose token keeps expiring, and prints the counts.",
        discussion: """
            A server runs in this process. It starts --count other processes. They keep the session in one file, and \
            each sends requests continuously. Without kills, no refresh token may be used twice, no two refreshes \
            may run at once, and no request may fail.

            With --kill-every, processes are killed at random (SIGKILL) and started again. A process that dies \
            between the server's response and the write to the file leaves a used refresh token. With --grace-period \
            the server repeats such a response, and no request may fail. Without it, the server ends the session, and \
            the next process must report an interrupted refresh; then this process signs in again, and all continue. \
            A --token-delay of a few hundred milliseconds makes this happen often:

              atom processes --count 8 --seconds 60
              atom processes --kill-every 0.2 --token-delay 200 --grace-period 10
              atom processes --kill-every 0.2 --token-delay 200

            The exit status is 0 if everything was as expected, 1 if not, and 130 after Ctrl-C. In each case all \
            processes have ended.
            """
    )

    @Option(name: .shortAndLong, help: "The number of processes.")
    var count = 8

    @Option(name: .shortAndLong, help: "How long they run; fractions are allowed.")
    var seconds = 20.0

    @Option(help: .init("The lifetime of an access token; fractions are allowed.", valueName: "seconds"))
    var tokenLifetime = 2.0

    @Option(help: .init("How long a used refresh token is still accepted.", valueName: "seconds"))
    var gracePeriod = 0.0

    @Option(help: .init("The delay of each response of the token endpoint.", valueName: "milliseconds"))
    var tokenDelay = 0

    @Option(help: .init("Kill a process repeatedly, on average after this time (default: never)", valueName: "seconds"))
    var killEvery: Double?

    @Option(help: .init("The seed of the random numbers that choose when and which.", valueName: "number"))
    var seed: UInt64 = 1

    @Option(help: "The number of concurrent requests of each process.")
    var concurrency = 4

    @Option(help: .init("The delay of each response of the server.", valueName: "milliseconds"))
    var work = 100

    func validate() throws {
        guard (1...256).contains(count), (1...1000).contains(concurrency) else {
            throw ValidationError("--count must be from 1 to 256, and --concurrency from 1 to 1000.")
        }
        guard seconds > 0, tokenLifetime > 0, gracePeriod >= 0, killEvery ?? 1 > 0 else {
            throw ValidationError("A time must be a positive number of seconds.")
        }
        guard (0...600_000).contains(work), (0...600_000).contains(tokenDelay) else {
            throw ValidationError("--work and --token-delay must be from 0 to 600000.")
        }
    }

    func run() async throws {
        guard let executable = Bundle.main.executableURL else {
            throw CommandFailure("The path of this program is unknown, so it can't start other processes.")
        }
        let plan = plan(executable)
        let (result, signal) = await withInterruption {
            do {
                return Result<ProcessesReport, any Error>.success(try await Fleet.run(plan))
            } catch {
                return .failure(error)
            }
        }
        switch result {
        case .success(let report):
            report.show(on: .standardOutput)
            if let signal { throw ExitCode(128 + signal) }
            guard report.isAsExpected else { throw ExitCode.failure }
        case .failure(let error):
            if let signal { throw ExitCode(128 + signal) }
            throw CommandFailure("The processes could not be started: \(error)")
        }
    }

    func plan(_ executable: URL) -> Fleet.Plan {
        Fleet.Plan(
            count: count, seconds: seconds, tokenLifetime: tokenLifetime, gracePeriod: gracePeriod,
            tokenDelayMilliseconds: tokenDelay, killEvery: killEvery, seed: seed, concurrency: concurrency,
            workMilliseconds: work, executable: executable)
    }
}
