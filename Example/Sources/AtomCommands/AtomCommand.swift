import ArgumentParser

/// The command line tool `atom`, which shows everything that AtomNetworking does.
public struct AtomCommand: AsyncParsableCommand {
    /// What `atom --help` says, and what there is to run.
    public static let configuration = CommandConfiguration(
        commandName: "atom",
        abstract: "Demonstrates AtomNetworking with an airline server that is included.",
        discussion: """
            Without a subcommand the tour runs: it starts the server on a free port of this machine, books a seat, \
            shares identical requests, causes failures, sends and receives files, lets a token expire and get revoked \
            during fifty requests, signs in when needed for a list with pages, listens to announcements while a token \
            expires, and shares a session as two processes would. It takes a few seconds and exits with status 0 if \
            everything was as expected.
            """,
        version: "atom, the example of AtomNetworking 1.1.0",
        subcommands: [
            TourCommand.self, ServeCommand.self, LoginCommand.self, WhoamiCommand.self, UpgradeCommand.self,
            LogoutCommand.self, RequestCommand.self, UploadCommand.self, DownloadCommand.self, StreamCommand.self,
            StormCommand.self,
            DocsCommand.self,
        ],
        defaultSubcommand: TourCommand.self
    )

    /// For the argument parser.
    public init() {}
}
