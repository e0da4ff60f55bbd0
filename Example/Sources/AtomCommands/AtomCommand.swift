import ArgumentParser

/// The command line tool `atom`: everything that AtomNetworking does, to be seen and tried.
public struct AtomCommand: AsyncParsableCommand {
    /// What `atom --help` says, and what there is to run.
    public static let configuration = CommandConfiguration(
        commandName: "atom",
        abstract: "Shows what AtomNetworking does, against an airline's server that comes along.",
        discussion: """
            Without a subcommand the tour runs: it starts the server on a free port of this machine, books a seat, \
            lets everything go wrong that can go wrong, lets a token expire and get revoked under fifty requests, \
            draws what happened, and shares a session as two processes would. It takes a few seconds and ends with status 0 if everything was as expected.
            """,
        version: "atom 0.1.0, the example of AtomNetworking",
        subcommands: [
            TourCommand.self, ServeCommand.self, LoginCommand.self, WhoamiCommand.self, LogoutCommand.self,
            RequestCommand.self, StormCommand.self, ProcessesCommand.self, WorkerCommand.self,
        ],
        defaultSubcommand: TourCommand.self
    )

    /// For the argument parser.
    public init() {}
}
