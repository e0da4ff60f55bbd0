import Foundation
import LoopbackServer
import Testing

@testable import AtomNetworking

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

#if os(Linux) || os(macOS)
    @Suite struct TLSFailureTests {
        @Test func plainHTTPSpokenToOverTLSHasReceivedNoRequest() async throws {
            let server = try LoopbackServer { _ in .json("{}") }
            defer { server.stop() }
            var endpoint = server.endpoint()
            endpoint.scheme = .https
            let outcome = await Atom.forTest().outcome(of: endpoint)
            #expect(outcome.urlError?.code == .secureConnectionFailed)
            #expect(outcome.error?.delivery == .notSent)
            #expect(outcome.error?.description.contains("does not speak TLS") == true)
            #expect(server.requestCount == 0)
        }

        @Test func aServerThatHangsUpDuringTheHandshakeIsAFailure() async throws {
            let listener = try LoopbackServer(maximumBodyLength: 0) { _ in .closeImmediately }
            listener.stop()
            var endpoint = listener.endpoint()
            endpoint.scheme = .https
            let outcome = await Atom.forTest().outcome(of: endpoint)
            #expect(outcome.urlError?.code == .cannotConnectToHost)
            #expect(outcome.error?.delivery == .notSent)
        }

        @Test(.enabled(if: OpenSSL.path != nil, "openssl is not installed"))
        func aSelfSignedCertificateIsNotTrusted() async throws {
            let listener = try await OpenSSL.startServer()
            defer { listener.process.terminate() }
            let endpoint = WireEndpoint(scheme: .https, host: "127.0.0.1", port: listener.port)
            let outcome = await Atom.forTest().outcome(of: endpoint)

            let codes: [URLError.Code] = [.serverCertificateUntrusted, .secureConnectionFailed]
            #expect(outcome.urlError.map { codes.contains($0.code) } == true)
            #expect(outcome.error?.delivery == .notSent)
            #expect(outcome.error?.description.contains("certificate") == true)
        }
    }

    /// `openssl s_server` with a certificate of its own making.
    enum OpenSSL {
        static let path = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
            .map { "\($0)/openssl" }
            .first { FileManager.default.isExecutableFile(atPath: $0) }

        struct SetupError: Error {}

        static func startServer() async throws -> (process: Process, port: Int) {
            let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            let key = folder.appendingPathComponent("key.pem").path
            let certificate = folder.appendingPathComponent("certificate.pem").path
            let making = try run([
                "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", certificate, "-days", "2",
                "-subj", "/CN=127.0.0.1",
            ])
            making.waitUntilExit()
            // A port that was free a moment ago.
            let free = try LoopbackServer { _ in .empty() }
            free.stop()
            let port = free.port
            let server = try run([
                "s_server", "-accept", "127.0.0.1:\(port)", "-cert", certificate, "-key", key, "-www",
            ])
            let plain = WireEndpoint(host: "127.0.0.1", port: port)
            let atom = Atom.forTest(request: 2, resource: 2)
            for _ in 0..<2_000 where server.isRunning {
                // Anything but a refused connection means that it listens.
                if await atom.outcome(of: plain).urlError?.code != .cannotConnectToHost { return (server, port) }
            }
            server.terminate()
            throw SetupError()
        }

        private static func run(_ arguments: [String]) throws -> Process {
            guard let path else { throw SetupError() }
            let process = Process()
            process.executableURL = URL(fileURLWithPath: path)
            process.arguments = arguments
            process.standardInput = Pipe()
            process.standardOutput = FileHandle.nullDevice
            process.standardError = FileHandle.nullDevice
            try process.run()
            return process
        }
    }
#endif
