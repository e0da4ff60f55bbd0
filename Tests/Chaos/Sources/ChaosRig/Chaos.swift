import AtomNetworking
import Foundation

/// Runs what the command line asks for, over one of some transports.
public enum Chaos {
    /// How a transport is made, by its name.
    public typealias Makers = [String: @Sendable () throws -> any Transport]

    /// Ends the process when all is over.
    public static func run(over makers: Makers) async -> Never {
        signal(SIGPIPE, SIG_IGN)
        let options = Options(Array(CommandLine.arguments.dropFirst()), transports: makers)
        if options.client != nil {
            await Client(options).run()
            exit(0)
        }
        exit(await Director(options).run() ? 0 : 1)
    }
}
