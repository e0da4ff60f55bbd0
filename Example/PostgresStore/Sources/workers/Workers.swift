import ArgumentParser

/// Several processes that share one session, whose tokens are in PostgreSQL.
@main
struct Workers: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "workers",
        abstract: "Several processes share one session, whose tokens PostgreSQL keeps.",
        subcommands: [DemonstrationCommand.self, WorkCommand.self],
        defaultSubcommand: DemonstrationCommand.self)
}
