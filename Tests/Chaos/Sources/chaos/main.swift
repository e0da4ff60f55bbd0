import Foundation

signal(SIGPIPE, SIG_IGN)
let options = Options(Array(CommandLine.arguments.dropFirst()))
if options.client != nil {
    await Client(options).run()
} else {
    exit(await Director(options).run() ? 0 : 1)
}
