import Foundation
import LoopbackServer
import Testing

@testable import AtomNetworking

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

#if os(Linux) || os(macOS)
    @Suite(.timeLimit(.minutes(5))) struct TLSFailureTests {
        @Test func plainHTTPSpokenToOverTLSHasReceivedNoRequest() async throws {
            let server = try LoopbackServer { _ in .json("{}") }
            defer { server.stop() }
            var endpoint = server.endpoint()
            endpoint.scheme = .https
            let outcome = await Atom.forTest().outcome(of: endpoint)
            #expect(outcome.urlError?.code == .secureConnectionFailed)
            #expect(outcome.error?.delivery == .notSent)
            #expect(outcome.error?.description.contains("does not use TLS") == true)
            #expect(server.requestCount == 0)
        }

        @Test func aRefusedConnectionHasReceivedNoRequestOverTLSEither() async throws {
            let gone = try LoopbackServer { _ in .json("{}") }
            gone.stop()
            var endpoint = gone.endpoint()
            endpoint.scheme = .https
            let outcome = await Atom.forTest().outcome(of: endpoint)
            #expect(outcome.urlError?.code == .cannotConnectToHost)
            #expect(outcome.error?.delivery == .notSent)
        }

        @Test(.enabled(if: OpenSSL.path != nil, "openssl is not installed"))
        func aSelfSignedCertificateIsNotTrusted() async throws {
            let server = try await OpenSSLServer()
            let endpoint = WireEndpoint(scheme: .https, host: "127.0.0.1", port: server.port)
            let outcome = await Atom.forTest().outcome(of: endpoint)
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
            // As in a test that throws.
            server = nil
            // The shell removes it last, when the server is gone. The port says nothing: another test may have it by now.
            #expect(await eventually { !FileManager.default.fileExists(atPath: folder.path) })
        }
    }

    enum OpenSSL {
        static let path = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
            .map { "\($0)/openssl" }
            .first { FileManager.default.isExecutableFile(atPath: $0) }
    }

    /// `openssl s_server` with a certificate of its own making, for as long as
    /// there is this object.
    ///
    /// Signals don't end it: it inherits from a thread of Dispatch that all but
    /// SIGKILL are blocked. So a shell stands between that ends it when nobody
    /// holds the other end of its input any more, however that comes about.
    final class OpenSSLServer: Sendable {
        struct SetupError: Error {}

        let port: Int
        /// Holds the certificate and its key, and is removed by the shell.
        let folder: URL

        private let input = Pipe()
        private let shell: Process

        init() async throws {
            folder = FileManager.default.temporaryDirectory.appendingPathComponent("tls-\(UUID().uuidString)")
            // A port that was free a moment ago.
            let free = try LoopbackServer { _ in .empty() }
            free.stop()
            port = free.port
            shell = Process()
            shell.executableURL = URL(fileURLWithPath: "/bin/sh")
            let script = """
                mkdir -m 700 "$2" && cd "$2" || exit
                "$1" req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out certificate.pem -days 2 -subj /CN=127.0.0.1
                "$1" s_server -accept "127.0.0.1:$3" -cert certificate.pem -key key.pem -www </dev/null &
                exec >/dev/null
                read -r nothing
                kill -KILL $!
                wait
                rm -r "$2"
                """
            shell.arguments = ["-c", script, "sh", try #require(OpenSSL.path), folder.path, "\(port)"]
            shell.standardInput = input
            let output = Pipe()
            shell.standardOutput = output
            shell.standardError = FileHandle.nullDevice
            try shell.run()
            // It serves one connection at a time: one that only asks whether it listens could keep others out.
            let handle = output.fileHandleForReading
            let isListening = await onAThreadOfItsOwn {
                var heard = Data()
                while heard.range(of: Data("ACCEPT".utf8)) == nil {
                    let part = handle.availableData
                    guard !part.isEmpty else { return false }
                    heard += part
                }
                return true
            }
            guard isListening else { throw SetupError() }
        }

        deinit {
            try? input.fileHandleForWriting.close()
        }

        /// Ends it, and waits until it is gone.
        func end() async {
            try? input.fileHandleForWriting.close()
            let shell = shell
            await onAThreadOfItsOwn { shell.waitUntilExit() }
        }
    }
#endif
