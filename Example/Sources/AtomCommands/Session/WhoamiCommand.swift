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
            Renews the access token first if necessary. The exit status is that of “atom request”: 0 if a user is \
            signed in, 77 if not or if the session has ended, 74 if its file can't be used.
            """
    )

    @OptionGroup var sessionOptions: SessionOptions

    func run() async throws {
        let (status, signal) = await withInterruption {
            await perform(output: .standardOutput, notes: .standardError)
        }
        if signal == SIGTERM { throw ExitCode(RequestExitStatus.terminated.rawValue) }
        guard status == .success else { throw ExitCode(status.rawValue) }
    }

    /// Asks the server, and shows the response.
    func perform(output: Terminal, notes: Terminal) async -> RequestExitStatus {
        let file = sessionOptions.file
        do throws(AtomError) {
            guard let profile = file.profile() else { throw .authentication(.missingCredential(delivery: .notSent)) }
            let atom = try file.atom(for: profile)
            let member = try await atom.enqueue(AccountEndpoint.account(try profile.airline()))
                .resume(expecting: Member.self)
            output.print(
                ResponsePrinter.printable(
                    "\(member.name) (\(member.tier), \(member.miles) miles) at \(profile.server)"))
            return .success
        } catch {
            await file.settle(after: error)
            let advice = SessionAdvice(error, file: file.url)
            notes.print(ResponsePrinter.printable(advice?.message ?? error.description))
            return advice?.status ?? RequestExitStatus(error)
        }
    }
}
