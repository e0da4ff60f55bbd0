import ArgumentParser
import AtomNetworking
import Foundation
import Testing

@testable import AtomCommands

@Suite(.limited) struct ParsingTests {
    private func parse<Command: ParsableCommand>(_ type: Command.Type, _ arguments: String...) throws -> Command {
        try #require(try AtomCommand.parseAsRoot(arguments) as? Command)
    }

    @Test func withoutASubcommandTheTourRuns() throws {
        _ = try parse(TourCommand.self)
    }

    @Test func aRequestIsDescribedByItsArguments() throws {
        let command = try parse(
            RequestCommand.self, "request", "POST", "http://localhost/", "-H", "X-One: 1", "--header", "X-Two:2: 3",
            "--query", "a=b=c", "--query", "d=", "--json", "{}", "--basic", "ada:love:lace", "--timeout", "0.5",
            "--resource-timeout", "9", "--no-follow", "-i", "--query", "e=f")
        #expect(command.exchange.header.map(\.item) == ["X-One": "1", "X-Two": "2: 3"])
        #expect(command.exchange.query.map(\.item) == ["a": "b=c", "d": "", "e": "f"])
        #expect(command.exchange.basic == NameAndSecret(name: "ada", secret: "love:lace"))
        #expect(command.exchange.timeout == 0.5)
        #expect(command.exchange.resourceTimeout == 9)
        #expect(command.exchange.noFollow && command.include && !command.quiet)
    }

    @Test func aSignInIsOnThePageUnlessThereIsAUser() throws {
        let page = try parse(LoginCommand.self, "login", "--scope", "openid miles:spend", "--dpop")
        #expect(page.user == nil && page.isBound && !page.device && page.scope == "openid miles:spend")
        #expect(try parse(LoginCommand.self, "login", "--device").device)
        #expect(try parse(LoginCommand.self, "login", "--password", "--user", "ada").user == "ada")
        #expect(try parse(LoginCommand.self, "login", "--user", "ada").user == "ada")
    }

    @Test(arguments: [
        "nonsense", "storm --requests 0", "serve --token-delay -1", "upload file", "download http://localhost/",
        "download http://localhost/ file --max-size -1", "stream http://localhost/ --events --lines",
        "stream http://localhost/ --reconnect", "stream http://localhost/ --last-event-id 1", "request GET",
        "request GET http://localhost/ --header nonsense", "request GET http://localhost/ --basic ada",
        "request GET http://localhost/ --session --basic a:b", "request GET http://localhost/ --session-file x",
        "request POST http://localhost/ --json {} --body x", "request GET http://localhost/ --offline",
        "login --password", "login --user ada --device", "login --user ada --dpop", "login --user ada --scope profile",
        "upgrade",
    ])
    func wrongArgumentsEndWith64(line: String) throws {
        let error = try #require(throws: (any Error).self) {
            try AtomCommand.parseAsRoot(line.components(separatedBy: " "))
        }
        #expect(AtomCommand.exitCode(for: error).rawValue == 64)
    }

    @Test func usualMethodsMayBeTypedInSmallLetters() throws {
        #expect(try URLEndpoint("http://localhost/", methodName: "get").method.name == "GET")
        #expect(try URLEndpoint("http://localhost/", methodName: "propfind").method.name == "propfind")
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

    // MARK: URLs

    @Test func aQueryIsSentAsItIsTyped() throws {
        let url = try URLEndpoint("http://localhost/?ids=1,2&q=a+b", methodName: "GET", query: ["c": "d e"])
        #expect(url.queryItems == QueryItem.items(percentEncodedQuery: "ids=1,2&q=a+b&c=d%20e"))
    }

    @Test(arguments: [
        ("localhost:8080/flights", "https://api"), ("ftp://example.com/", "https://api"),
        ("http://ada:lovelace@example.com/", "Basic"), ("http://example.com:http/", "a port is"),
    ])
    func whatIsNoURLIsRefusedWithAReason(_ text: String, _ reason: String) throws {
        let error = try #require(throws: AtomError.self) { try URLEndpoint(text) }
        #expect(RequestExitStatus(error) == .invalidRequest)
        #expect("\(error)".contains(reason) && !"\(error)".contains("lovelace"))
    }
}
