import ArgumentParser
import AtomNetworking
import Foundation
import Terminal

/// Asks the server who is signed in.
struct WhoamiCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "whoami",
        abstract: "Asks the server who is signed in.",
        discussion: """
            Refreshes the access token first if necessary. The exit status is that of “atom request”: 0 if a user is \
            signed in, 77 if not or if the session has ended, 74 if its file can't be used.
            """
    )

    @OptionGroup var sessionOptions: SessionOptions

    func run() async throws {
        let (status, signal) = await withInterruption {
            await perform(output: .standardOutput, notes: .standardError)
        }
        try status.exit(after: signal)
    }

    /// Asks the server, and shows the response.
    func perform(output: Terminal, notes: Terminal) async -> RequestExitStatus {
        let file = sessionOptions.file
        do throws(AtomError) {
            guard let profile = file.profile() else { throw .authentication(.missingCredential(delivery: .notSent)) }
            let atom = try file.atom(for: profile)
            let airline = try profile.airline()
            let result = await outcome { () async throws(AtomError) in
                try await atom.enqueue(AccountEndpoint.account(airline)).resume(expecting: Member.self)
            }
            await atom.finishBeforeExit()
            let member = try result.get()
            output.print(
                ResponsePrinter.printable(
                    "\(member.name) (\(member.tier), \(member.miles) miles) at \(profile.server)"))
            return .success
        } catch {
            let advice = SessionAdvice(error, file: file.url)
            notes.print(ResponsePrinter.printable(advice?.message ?? error.description))
            return advice?.status ?? RequestExitStatus(error)
        }
    }
}
