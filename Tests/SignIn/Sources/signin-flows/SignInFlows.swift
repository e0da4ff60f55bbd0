import Foundation

/// Signs in to a server that runs, and prints one line for each check.
///
///     signin-flows SERVER PORT
///
/// Each check runs with each server. One that a server fails by what it is has a reason in ``Server``, and a check that
/// passes against its reason is an error. `SIGNIN_CHECK` names the only one that runs.
@main struct SignInFlows {
    static func main() async throws {
        let arguments = CommandLine.arguments.dropFirst()
        guard arguments.count == 2, let name = arguments.first, let port = Int(arguments[2]),
            let server = Server.all(port: port)[name]
        else {
            FileHandle.standardError.write(Data("usage: signin-flows SERVER PORT\n".utf8))
            exit(2)
        }
        let only = ProcessInfo.processInfo.environment["SIGNIN_CHECK"]
        var (passed, failed) = (0, 0)
        for check in server.checks where only == nil || check.name == only {
            let problem = await check.problem(with: server)
            switch (problem, server.exceptions[check.name]) {
            case (nil, nil):
                passed += 1
                print("ok        \(check.name)")
            case (let problem?, nil):
                failed += 1
                print("FAILED    \(check.name): \(problem)")
            case (nil, let reason?):
                failed += 1
                print("FAILED    \(check.name): it passes, and is an exception: \(reason)")
            case (_?, let reason?): print("excepted  \(check.name): \(reason)")
            }
        }
        let unknown = Set(server.exceptions.keys).subtracting(server.checks.map(\.name)).sorted()
        for name in unknown { print("FAILED    \(name): it is an exception, and no check") }
        print("\(name): \(passed) passed, \(failed + unknown.count) failed")
        exit(failed + unknown.count == 0 ? 0 : 1)
    }
}
