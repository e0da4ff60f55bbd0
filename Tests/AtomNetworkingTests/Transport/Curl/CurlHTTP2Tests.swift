#if os(Linux)
    import AtomNetworkingTesting
    import Foundation
    import Glibc
    import Testing

    @testable import AtomNetworking

    /// `nghttpd`, a server that speaks HTTP/2, for the lifetime of this object.
    private final class HTTP2Server: Sendable {
        static let path = ["/usr/sbin/nghttpd", "/usr/bin/nghttpd", "/usr/local/bin/nghttpd"].first {
            FileManager.default.isExecutableFile(atPath: $0)
        }

        let port: Int
        private let input = Pipe()
        private let shell = Process()

        /// - Parameters:
        ///   - tls: The server whose certificate it shows.
        ///   - files: The files that it has, by their sizes.
        init(like tls: TLSServer, files: [String: Int]) async throws {
            _ = fcntl(input.fileHandleForWriting.fileDescriptor, F_SETFD, FD_CLOEXEC)
            let folder = tls.folder.appendingPathComponent("files")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            for (name, size) in files {
                try Data((0..<size).map { UInt8(truncatingIfNeeded: $0 / 251) })
                    .write(to: folder.appendingPathComponent(name))
            }
            // Free a moment ago.
            port = try RefusingPort().number
            shell.executableURL = URL(fileURLWithPath: "/bin/sh")
            shell.arguments = [
                "-c", #""$@" </dev/null & read -r nothing; kill -KILL $!"#, "sh", try #require(Self.path),
                "--address=127.0.0.1", "--htdocs=\(folder.path)", "\(port)",
                tls.folder.appendingPathComponent("server.key").path,
                tls.folder.appendingPathComponent("server.pem").path,
            ]
            shell.standardInput = input
            shell.standardOutput = FileHandle.nullDevice
            shell.standardError = FileHandle.nullDevice
            await waitForFewDescriptors()
            try shell.run()
        }

        /// The shell ends the server; nobody waits for it, since Foundation notices its end
        /// only when no other process has its pipes.
        func end() {
            try? input.fileHandleForWriting.write(contentsOf: Data("\n".utf8))
            try? input.fileHandleForWriting.close()
        }
    }

    @Suite(
        .enabled(if: OpenSSL.path != nil && HTTP2Server.path != nil, "openssl or nghttpd is not installed"),
        .enabled(if: CurlLibrary.speaksHTTP2, "libcurl has no HTTP/2, or an old one"), .limited)
    struct CurlHTTP2Tests {
        @Test("A body that nobody reads holds up no other exchange of its connection")
        func heldBody() async throws {
            let size = 24 << 20
            let tls = try await TLSServer()
            let server = try await HTTP2Server(like: tls, files: ["large": size, "small": 5])
            let atom = Atom(.forTest(over: try CurlTransport(configuration: tls.configuration)))
            func endpoint(_ path: String) -> WireEndpoint {
                WireEndpoint(scheme: .https, host: "127.0.0.1", port: server.port, rawPath: path)
            }
            #expect(await eventually { await atom.outcome(of: endpoint("/small")).response?.data.count == 5 })
            var parts = try await atom.enqueue(endpoint("/large")).bytes().makeAsyncIterator()
            var count = try await parts.next()?.count ?? 0
            #expect(count > 0)
            // As many as would have made room in any buffer.
            for _ in 0..<40 { #expect(await atom.outcome(of: endpoint("/small")).response?.data.count == 5) }
            while let part = try await parts.next() { count += part.count }
            #expect(count == size)
            server.end()
            await tls.end()
        }
    }
#endif
