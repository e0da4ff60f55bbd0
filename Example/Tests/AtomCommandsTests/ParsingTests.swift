import ArgumentParser
import AtomNetworking
import Foundation
import Testing

@testable import AtomCommands

@Suite struct ParsingTests {
    private func parse<Command: ParsableCommand>(_ type: Command.Type, _ arguments: String...) throws -> Command {
        try #require(try AtomCommand.parseAsRoot(arguments) as? Command)
    }

    private func exitCode(_ arguments: String...) -> Int32 {
        do {
            _ = try AtomCommand.parseAsRoot(arguments)
            return 0
        } catch {
            return AtomCommand.exitCode(for: error).rawValue
        }
    }

    @Test func withoutASubcommandTheTourRuns() throws {
        _ = try parse(TourCommand.self)
    }

    @Test func aRequestIsDescribedByItsArguments() throws {
        let command = try parse(
            RequestCommand.self, "request", "POST", "http://localhost/", "-H", "X-One: 1", "--header", "X-Two:2: 3",
            "--query", "a=b=c", "--query", "d=", "--json", "{}", "--basic", "ada:love:lace", "--timeout", "0.5",
            "--resource-timeout", "9", "--no-follow", "-i", "--query", "e=f")
        #expect(command.exchange.header.map(\.item.name) == ["X-One", "X-Two"])
        #expect(command.exchange.header.map(\.item.value) == ["1", "2: 3"])
        #expect(command.exchange.query.map(\.item.value) == ["b=c", "", "f"])
        #expect(command.exchange.basic == NameAndSecret(name: "ada", secret: "love:lace"))
        #expect(command.exchange.timeout == 0.5)
        #expect(command.exchange.resourceTimeout == 9)
        #expect(command.exchange.noFollow && command.include && !command.quiet)
    }

    @Test func wrongArgumentsEndWith64() {
        #expect(exitCode("request", "GET") == 64)
        #expect(exitCode("request", "GET", "http://localhost/", "--header", "nonsense") == 64)
        #expect(exitCode("request", "GET", "http://localhost/", "--basic", "ada") == 64)
        #expect(exitCode("request", "POST", "http://localhost/", "--json", "{}", "--body", "x") == 64)
        #expect(exitCode("storm", "--requests", "0") == 64)
        #expect(exitCode("serve", "--token-delay", "-1") == 64)
        #expect(exitCode("request", "GET", "http://localhost/", "--session", "--basic", "a:b") == 64)
        #expect(exitCode("request", "GET", "http://localhost/", "--session-file", "x") == 64)
        #expect(exitCode("upload", "file") == 64)
        #expect(exitCode("download", "http://localhost/") == 64)
        #expect(exitCode("download", "http://localhost/", "file", "--max-size", "-1") == 64)
        #expect(exitCode("stream", "http://localhost/", "--events", "--lines") == 64)
        #expect(exitCode("stream", "http://localhost/", "--reconnect") == 64)
        #expect(exitCode("stream", "http://localhost/", "--last-event-id", "1") == 64)
        #expect(exitCode("nonsense") == 64)
    }

    @Test func usualMethodsMayBeTypedInSmallLetters() throws {
        let url = try RequestURL("http://localhost/")
        #expect(CommandLineRequest(url: url, methodName: "get").method.name == "GET")
        #expect(CommandLineRequest(url: url, methodName: "propfind").method.name == "propfind")
    }

    @Test func aBodyIsTextOrAFile() throws {
        #expect(try BodyArgument(argument: "text").data() == Data("text".utf8))
        #expect(try BodyArgument(argument: "[1]").json() == Data("[1]".utf8))
        #expect(throws: ValidationError.self) { try BodyArgument(argument: "{").json() }
        #expect(throws: ValidationError.self) { try BodyArgument(argument: "@/nowhere/at/all").data() }
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("atom-\(UUID().uuidString).json")
        try Data("{}".utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        #expect(try BodyArgument(argument: "@\(file.path)").json() == Data("{}".utf8))
    }

    @Test func theHelpNamesEveryExitStatus() {
        let help = RequestCommand.helpMessage(columns: 100)
        for status in RequestExitStatus.allCases {
            #expect(help.contains("\(status.rawValue)  \(status.explanation)"))
        }
    }
}
