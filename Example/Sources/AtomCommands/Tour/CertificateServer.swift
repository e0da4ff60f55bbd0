#if os(Linux)
    import AtomNetworking
    import Foundation

    /// OpenSSL's own test server on 127.0.0.1, with a certificate that no system
    /// trusts.
    struct CertificateServer: Sendable {
        /// The certificate in PEM, which is also its own authority.
        let certificate: URL
        /// Its private key in PEM.
        let privateKey: URL
        let port: Int
        private let process: WorkerProcess

        /// The server runs until this process ends or closes its input.
        ///
        /// It may ignore SIGTERM: a process that waits for that signal hands this
        /// on to those that it starts.
        private static let script = """
            command -v openssl >/dev/null || exit 1
            openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 1 -subj /CN=airline \
                -addext subjectAltName=IP:127.0.0.1 -out "$0" -keyout "$1" 2>/dev/null || exit 1
            openssl s_server -accept 127.0.0.1:0 -www -cert "$0" -key "$1" 2>/dev/null &
            exec >&-
            read -r line
            kill -KILL $!
            """

        /// Starts a server that accepts connections as soon as this returns.
        ///
        /// - Returns: `nil` if there is no `openssl`, or it can't do this.
        static func start() async -> CertificateServer? {
            let folder = FileManager.default.temporaryDirectory.appendingPathComponent("atom-\(UUID().uuidString)")
            let certificate = folder.appendingPathComponent("certificate.pem")
            let privateKey = folder.appendingPathComponent("key.pem")
            do {
                try FileManager.default.createDirectory(
                    at: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
                let process = try WorkerProcess(
                    URL(fileURLWithPath: "/bin/sh"), ["-c", script, certificate.path, privateKey.path])
                let announcement = await process.lines.first { $0.hasPrefix("ACCEPT ") }
                if let port = announcement?.split(separator: ":").last.flatMap({ Int($0) }) {
                    return CertificateServer(
                        certificate: certificate, privateKey: privateKey, port: port, process: process)
                }
                process.finish()
                _ = await process.waitUntilExit()
            } catch {}
            try? FileManager.default.removeItem(at: folder)
            return nil
        }

        func base() throws(AtomError) -> BaseURL {
            try BaseURL(host: "127.0.0.1", port: port)
        }

        /// Ends the server and removes its files.
        func stop() async {
            process.finish()
            _ = await process.waitUntilExit()
            try? FileManager.default.removeItem(at: certificate.deletingLastPathComponent())
        }
    }
#endif
