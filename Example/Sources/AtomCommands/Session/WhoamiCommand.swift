import ArgumentParser
import AtomNetworking

/// Asks the server who is signed in.
struct WhoamiCommand: StatusCommand {
    static let configuration = CommandConfiguration(
        commandName: "whoami",
        abstract: "Asks the server who is signed in.",
        discussion: """
            Refreshes the access token first if necessary. The exit status is that of “atom request”: 0 if a user is \
            signed in, 77 if not or if the session has ended, 74 if its file can't be used.
            """
    )

    @OptionGroup var sessionOptions: SessionOptions

    /// Asks the server, and shows the response.
    func perform(on console: Console) async -> RequestExitStatus {
        let file = sessionOptions.file
        do throws(AtomError) {
            let profile = try file.profileOfUser()
            let atom = try profile.atom(file.store())
            let endpoint = AccountEndpoint.account(try profile.airline())
            let result = await atom.outcome(of: endpoint, expecting: Member.self)
            let notStored = await atom.finishBeforeExit(console.notes)
            // Also if the request has failed.
            let status = notStored.map { SessionAdvice($0, file: file.url).show(on: console.notes) }
            let member = try result.get()
            console.output.print(ResponsePrinter.printable("\(member) at \(profile.server)"))
            return status ?? .success
        } catch {
            return SessionAdvice(error, file: file.url).show(on: console.notes)
        }
    }
}
