import AtomNetworkingTesting
import Foundation
import Testing

@testable import AtomNetworking

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

#if os(Linux) || os(macOS)
    @Suite(.limited) struct TLSFailureTests {
        @Test(arguments: TransportUnderTest.all)
        func plainHTTPSpokenToOverTLSHasReceivedNoRequest(over transport: TransportUnderTest) async throws {
            let server = try LoopbackServer { _ in .json("{}") }
            defer { server.stop() }
            var endpoint = server.endpoint()
            endpoint.scheme = .https
            let outcome = await Atom.forTest(over: transport).outcome(of: endpoint)
            #expect(outcome.urlError?.code == .secureConnectionFailed)
            #expect(outcome.error?.delivery == .notSent)
            #expect(outcome.error?.description.contains("does not use TLS") == true)
            #expect(server.requestCount == 0)
        }

        @Test(arguments: TransportUnderTest.all)
        func aRefusedConnectionHasReceivedNoRequestOverTLSEither(over transport: TransportUnderTest) async throws {
            let port = try RefusingPort()
            defer { withExtendedLifetime(port) {} }
            var endpoint = port.endpoint()
            endpoint.scheme = .https
            let outcome = await Atom.forTest(over: transport).outcome(of: endpoint)
            #expect(outcome.urlError?.code == .cannotConnectToHost)
            #expect(outcome.error?.delivery == .notSent)
        }

        @Test(.enabled(if: OpenSSL.path != nil, "openssl is not installed"), arguments: TransportUnderTest.all)
        func aSelfSignedCertificateIsNotTrusted(over transport: TransportUnderTest) async throws {
            let server = try await OpenSSLServer()
            let endpoint = WireEndpoint(scheme: .https, host: "127.0.0.1", port: server.port)
            let outcome = await Atom.forTest(over: transport).outcome(of: endpoint)
            await server.end()

            let codes: [URLError.Code] = [.serverCertificateUntrusted, .secureConnectionFailed]
            #expect(outcome.urlError.map { codes.contains($0.code) } == true)
            #expect(outcome.error?.delivery == .notSent)
            #expect(outcome.error?.description.contains("certificate") == true)
        }

        @Test(.enabled(if: OpenSSL.path != nil, "openssl is not installed"), arguments: [true, false])
        func nothingIsLeftOfTheServerThatTheTestsStart(isEnded: Bool) async throws {
            var server: OpenSSLServer? = try await OpenSSLServer()
            let folder = try #require(server?.folder)
            if isEnded { await server?.end() }
            // This happens too when a test throws.
            server = nil
            // The shell removes the folder last, after the server has ended.
            // The port proves nothing: another test may already use it.
            #expect(await eventually { !FileManager.default.fileExists(atPath: folder.path) })
        }
    }

    enum OpenSSL { static let path = installedProgram("openssl") }

    enum Python { static let path = installedProgram("python3") }

    private func installedProgram(_ name: String) -> String? {
        ("/usr/bin:" + (ProcessInfo.processInfo.environment["PATH"] ?? "")).split(separator: ":")
            .map { "\($0)/\(name)" }
            .first { FileManager.default.isExecutableFile(atPath: $0) }
    }

    /// `openssl s_server` with a self-made certificate, for the lifetime of
    /// this object.
    ///
    /// Only SIGKILL ends it, because it inherits a Dispatch thread's mask that
    /// blocks all other signals. Therefore a shell between the two ends it when
    /// the other end of the shell's input is closed for any reason.
    final class OpenSSLServer: Sendable {
        struct SetupError: Error {}

        let port: Int
        /// Contains the certificate and its key; the shell removes it.
        let folder: URL

        private let input = Pipe()
        private let shell: Process

        init() async throws {
            folder = FileManager.default.temporaryDirectory.appendingPathComponent("tls-\(UUID().uuidString)")
            shell = Process()
            shell.executableURL = URL(fileURLWithPath: "/bin/sh")
            let script = """
                mkdir -m 700 "$2" && cd "$2" || exit
                "$1" req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out certificate.pem -days 2 -subj /CN=127.0.0.1
                "$1" s_server -accept 127.0.0.1:0 -cert certificate.pem -key key.pem -www </dev/null &
                exec >/dev/null
                read -r nothing
                kill -KILL $!
                wait
                rm -r "$2"
                """
            shell.arguments = ["-c", script, "sh", try #require(OpenSSL.path), folder.path]
            // Or a process that another test starts meanwhile would hold it open too.
            _ = fcntl(input.fileHandleForWriting.fileDescriptor, F_SETFD, FD_CLOEXEC)
            shell.standardInput = input
            let output = Pipe()
            shell.standardOutput = output
            shell.standardError = FileHandle.nullDevice
            await waitForFewDescriptors()
            try shell.run()
            let handle = output.fileHandleForReading
            guard let port = await onAThreadOfItsOwn({ Self.port(in: handle) }) else { throw SetupError() }
            self.port = port
        }

        /// The port that `s_server` has chosen, which it tells when it listens;
        /// `nil` if it has ended.
        static func port(in output: FileHandle) -> Int? {
            var heard = ""
            while true {
                let part = output.availableData
                guard !part.isEmpty else { return nil }
                heard += String(decoding: part, as: UTF8.self)
                let line = heard.split(separator: "\n").first { $0.hasPrefix("ACCEPT") }
                if let line, heard.hasSuffix("\n") { return line.split(separator: ":").last.flatMap { Int($0) } }
            }
        }

        deinit {
            try? input.fileHandleForWriting.close()
        }

        /// Ends the server, and waits for that.
        func end() async {
            try? input.fileHandleForWriting.close()
            let shell = shell
            await onAThreadOfItsOwn { shell.waitUntilExit() }
        }
    }
#endif
