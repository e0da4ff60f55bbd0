import AirlineServer
import ArgumentParser
import AtomNetworking
import Foundation
import Testing

@testable import AtomCommands

@Suite(.timeLimit(.minutes(5))) struct TransportOptionsTests {
    private struct Run {
        let status: RequestExitStatus
        let output: String
        let notes: String
    }

    /// Runs `atom request GET url …`.
    private func request(_ url: String, _ arguments: [String]) async throws -> Run {
        let command = try #require(
            try AtomCommand.parseAsRoot(["request", "GET", url] + arguments) as? RequestCommand)
        let output = RecordingTerminal()
        let notes = RecordingTerminal()
        let status = try await command.perform(
            body: output.terminal(), notes: notes.terminal(), writeBytes: output.write)
        return Run(status: status, output: output.text, notes: notes.text)
    }

    /// Expects that the arguments are a wrong command line, and that nothing is
    /// sent.
    private func expectRefusal(_ arguments: [String], saying text: String) async throws {
        let server = try await AirlineServer.start()
        do {
            _ = try await request(server.baseURL + "/flights", arguments)
            Issue.record("\(arguments) was accepted.")
        } catch {
            #expect(AtomCommand.exitCode(for: error).rawValue == RequestExitStatus.wrongArguments.rawValue)
            let message = AtomCommand.message(for: error)
            #expect(message.contains(text), "\(message)")
        }
        #expect(server.counters.requests == 0)
        await server.stop()
    }

    #if os(Linux)
        private static let pin = "n4bQgYhMfWWaL+qgxVrQFaO/TxsrC4Is0V1sFbDwCgg="

        @Test func theOptionsAreRead() throws {
            let command = try #require(
                try AtomCommand.parseAsRoot([
                    "request", "GET", "https://localhost/", "--ca-certificates", "ca.pem", "--only-ca-certificates",
                    "--pin", Self.pin, "--pin", "sha256/\(Self.pin)", "--client-certificate", "me.pem",
                    "--client-key", "key.pem", "--client-key-passphrase-file", "words", "--proxy",
                    "socks5h://localhost:1080", "--connections", "2", "--transport", "curl",
                ]) as? RequestCommand)
            let options = command.transportOptions
            #expect(options.caCertificates == "ca.pem" && options.trustsOnlyGiven)
            #expect(options.pin.count == 2)
            #expect(options.clientCertificate == "me.pem" && options.clientKey == "key.pem")
            #expect(options.clientKeyPassphraseFile == "words")
            #expect(options.proxy == "socks5h://localhost:1080" && !options.noProxy)
            #expect(options.connections == 2)
            #expect(options.transport == .curl)
        }

        @Test(arguments: [
            (["--only-ca-certificates"], "--only-ca-certificates requires --ca-certificates"),
            (["--ca-certificates", "/nowhere/ca.pem"], "--ca-certificates: the file can't be read"),
            (["--ca-certificates", "/dev/null"], "--ca-certificates: there is no"),
            (["--pin", "c2hvcnQ="], "--pin: a pin is the base64 of a SHA-256 digest"),
            (["--client-certificate", "me.pem"], "must be used together"),
            (["--client-key", "key.pem"], "must be used together"),
            (["--client-key-passphrase-file", "words"], "requires --client-key"),
            (["--client-certificate", "/nowhere/me.pem", "--client-key", "key.pem"], "--client-certificate: the file"),
            (["--proxy", "ftp://localhost"], "--proxy: its scheme is none of"),
            (["--proxy", "http://ada:lovelace@localhost"], "--proxy takes no user name and password"),
            (["--proxy", "http://localhost", "--no-proxy"], "Use only one of --proxy and --no-proxy"),
            (["--connections", "0"], "--connections must be at least 1"),
            (["--transport", "pigeon"], "pigeon"),
            (["--transport", "urlsession", "--no-proxy"], "--no-proxy can't be used with --transport urlsession"),
        ])
        func whatIsWrongIsSaidBeforeAnythingIsSent(_ arguments: [String], _ text: String) async throws {
            try await expectRefusal(arguments, saying: text)
        }

        @Test func theNotesNameTheTransport() async throws {
            let server = try await AirlineServer.start()
            let url = server.baseURL + "/flights"
            let session = try await request(url, ["--transport", "urlsession"])
            #expect(session.status == .success)
            #expect(session.notes.contains("over URLSession"))
            await server.stop()
        }

        @Test(.enabled(if: CurlTransport.libraryVersion != nil))
        func libcurlTakesTheSettings() async throws {
            let server = try await AirlineServer.start()
            let run = try await request(
                server.baseURL + "/flights", ["--transport", "curl", "--no-proxy", "--connections", "1"])
            #expect(run.status == .success)
            #expect(run.notes.contains("over libcurl \(CurlTransport.libraryVersion ?? "")"))
            await server.stop()
        }

        /// The airline's server is the proxy: it echoes the target that it gets.
        @Test(.enabled(if: CurlTransport.libraryVersion != nil))
        func aRequestGoesToTheProxy() async throws {
            let proxy = try await AirlineServer.start()
            let run = try await request("http://airline.invalid/echo/x?a=1", ["--proxy", proxy.baseURL])
            #expect(run.status == .success)
            let echo = try #require(
                try JSONSerialization.jsonObject(with: Data(run.output.utf8)) as? [String: Any])
            #expect(echo["target"] as? String == "http://airline.invalid/echo/x?a=1")
            #expect(proxy.counters.requests == 1)
            await proxy.stop()
        }

        @Test(.enabled(if: CurlTransport.libraryVersion != nil))
        func aCertificateIsTrustedThatAFileContains() async throws {
            // Without openssl there is nothing to test.
            guard let server = await CertificateServer.start() else { return }
            let url = "https://127.0.0.1:\(server.port)/"
            // Whatever proxy the environment names.
            let direct = ["--no-proxy"]
            let trust = direct + ["--ca-certificates", server.certificate.path]
            let shown = ["--client-certificate", server.certificate.path, "--client-key", server.privateKey.path]
            let refused = try await request(url, direct)
            #expect(refused.status == .notSecure)
            #expect(refused.notes.contains("Nothing was sent"))
            #expect(try await request(url, trust).status == .success)
            #expect(try await request(url, trust + ["--only-ca-certificates"] + shown).status == .success)
            #expect(try await request(url, trust + ["--pin", Self.pin]).status == .notSecure)
            await server.stop()
        }
    #else
        @Test(arguments: [["--no-proxy"], ["--ca-certificates", "ca.pem"], ["--transport", "curl"]])
        func elsewhereTheSystemsSettingsApply(_ arguments: [String]) async throws {
            try await expectRefusal(arguments, saying: "only for Linux")
        }
    #endif
}
