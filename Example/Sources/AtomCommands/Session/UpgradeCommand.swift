import ArgumentParser
import AtomNetworking
import AtomNetworkingSignIn

/// Spends miles, for which a user has to sign in again.
struct UpgradeCommand: StatusCommand {
    static let configuration = CommandConfiguration(
        commandName: "upgrade",
        abstract: "Buys a seat in first class with miles, and asks for your consent if necessary.",
        discussion: """
            The access token of a usual sign-in isn't enough for this: the server answers 403 with the scope that is \
            missing. Then the tool signs you in for more on the server's page, and sends the request again:

              atom upgrade AS100

            If you cancel that, or somebody else signs in there, the session stays as it was. The exit status is that \
            of “atom request”.
            """
    )

    @Argument(help: "The number of the flight.")
    var flight: String

    @Flag(help: "Sign in on another device, if that is necessary.")
    var device = false

    @OptionGroup var sessionOptions: SessionOptions

    func perform(on console: Console) async -> RequestExitStatus {
        let file = sessionOptions.file
        do throws(AtomError) {
            let profile = try file.profileOfUser()
            let page = try await PageSignIn(to: profile, in: file, isOnDevice: device, on: console)
            let endpoint = AccountEndpoint.upgrade(try profile.airline(), flight: flight)
            let result = await outcome { () async throws(AtomError) in
                try await page.signIn.withStepUp(of: page.atom) {
                    try await page.atom.enqueue(endpoint).resume(expecting: Upgrade.self)
                }
            }
            let notStored = await page.atom.finishBeforeExit(console.notes)
            let status = notStored.map { SessionAdvice($0, file: file.url).show(on: console.notes) }
            let upgrade = try result.get()
            console.output.print(ResponsePrinter.printable("\(upgrade)"))
            return status ?? .success
        } catch {
            if ScopeChallenge(error) != nil {
                console.notes.print("Nothing was bought: nobody has agreed to it on the server's page.")
                return .loginDenied
            }
            return SessionAdvice(error, file: file.url).show(on: console.notes)
        }
    }
}
