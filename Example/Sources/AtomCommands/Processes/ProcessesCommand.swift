import AirlineServer
import ArgumentParser
import Foundation
import Terminal

/// Lets processes share one session, and counts.
struct ProcessesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "processes",
        abstract: "Lets several processes share a session whose token keeps expiring, and counts.",
        discussion: """
            A server runs in this process. So many others are started; they have the session in one file, and each \
            sends requests without end. Without kills, no refresh token may be used twice, no two refreshes may run \
            at once, and no request may fail.

            With --kill-every, processes are killed at random (SIGKILL) and started again. One that dies between \
            the server's answer and the file leaves a refresh token that is spent. With --grace-period the server \
            repeats such an answer, and nobody may notice. Without, it ends the session, and the next process must \
            say that a refresh was interrupted; then somebody signs in again and all go on. A --token-delay of some \
            hundred milliseconds makes that happen often:

              atom processes --count 8 --seconds 60
              atom processes --kill-every 0.2 --token-delay 200 --grace-period 10
              atom processes --kill-every 0.2 --token-delay 200

            Ends with status 0 if all was as it should be, with 1 if not, and with 130 after Ctrl-C. However it \
            ends, no process is left.
            """
    )

    @Option(name: .shortAndLong, help: "How many processes.")
    var count = 8

    @Option(name: .shortAndLong, help: "How long they run; fractions count.")
    var seconds = 20.0

    @Option(help: .init("How long an access token lives; fractions count.", valueName: "seconds"))
    var tokenLifetime = 2.0

    @Option(help: .init("How long a used refresh token may be used again.", valueName: "seconds"))
    var gracePeriod = 0.0

    @Option(help: .init("How long the token endpoint takes for each answer.", valueName: "milliseconds"))
    var tokenDelay = 0

    @Option(help: .init("Kill a process again and again, on average so often (default: never)", valueName: "seconds"))
    var killEvery: Double?

    @Option(help: .init("Which random numbers decide when and which; the same for the same seed.", valueName: "number"))
    var seed: UInt64 = 1

    @Option(help: "How many requests each process has on the way at a time.")
    var concurrency = 4

    @Option(help: .init("How long the server takes for each answer.", valueName: "milliseconds"))
    var work = 100

    func validate() throws {
        guard (1...256).contains(count), (1...1000).contains(concurrency) else {
            throw ValidationError("--count is from 1 to 256, and --concurrency from 1 to 1000.")
        }
        guard seconds > 0, tokenLifetime > 0, gracePeriod >= 0, killEvery ?? 1 > 0 else {
            throw ValidationError("A time is a positive number of seconds.")
        }
        guard (0...600_000).contains(work), (0...600_000).contains(tokenDelay) else {
            throw ValidationError("--work and --token-delay are from 0 to 600000.")
        }
    }

    func run() async throws {
        guard let executable = Bundle.main.executableURL else {
            throw CommandFailure("This program doesn't know where it is, and can't start another of its kind.")
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
            throw CommandFailure("The processes could not begin: \(error)")
        }
    }

    func plan(_ executable: URL) -> Fleet.Plan {
        Fleet.Plan(
            count: count, seconds: seconds, tokenLifetime: tokenLifetime, gracePeriod: gracePeriod,
            tokenDelayMilliseconds: tokenDelay, killEvery: killEvery, seed: seed, concurrency: concurrency,
            workMilliseconds: work, executable: executable)
    }
}
