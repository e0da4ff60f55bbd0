#if os(Linux)
    internal import CAtomCurl
    import Foundation

    /// The options that all transfers of a transport have in common.
    final class CurlSettings: Sendable {
        /// How many exchanges a multiplexing origin gets at once, as many as
        /// libcurl puts on one connection.
        static let multiplexedExchanges = 100

        let connectionsPerOrigin: Int
        let multiplexes: Bool
        let tellsOfSending: Bool
        let repeatsUnexpected: Bool
        let usesHandlesAgain: Bool
        /// How many milliseconds a body waits for `100 Continue`; `nil` for as
        /// many as libcurl says.
        let expectationTimeout: Int?
        /// The header lines that every request has unless it sets them itself.
        let ownLines: [HeaderLine]
        private let proxies: Proxies
        private let authorities: MemoryFile?
        private let replacesAuthorities: Bool
        private let clientCertificate: MemoryFile?
        private let clientKey: MemoryFile?
        private let passphrase: String?
        private let pins: String?

        init(_ configuration: CurlTransport.Configuration, library: CurlLibrary) throws(AtomError) {
            connectionsPerOrigin = max(configuration.connectionsPerOrigin, 1)
            multiplexes = library.hasHTTP2
            tellsOfSending = library.tellsOfSending
            repeatsUnexpected = library.repeatsUnexpected
            usesHandlesAgain = library.usesHandlesAgain
            expectationTimeout = configuration.expectationTimeout
            proxies = Proxies(configuration.proxy, environment: ProcessInfo.processInfo.environment)
            switch configuration.trust {
            case .system:
                (authorities, replacesAuthorities) = (nil, false)
            case .systemAnd(let further):
                authorities = try MemoryFile(Self.systemAuthorities() + Data("\n".utf8) + further.bytes)
                replacesAuthorities = false
            case .only(let others):
                (authorities, replacesAuthorities) = (try MemoryFile(others.bytes), true)
            }
            if let certificate = configuration.clientCertificate {
                clientCertificate = try MemoryFile(certificate.chain.bytes)
                clientKey = try MemoryFile(certificate.privateKey)
                passphrase = certificate.passphrase
            } else {
                (clientCertificate, clientKey, passphrase) = (nil, nil, nil)
            }
            pins =
                configuration.publicKeyPins.isEmpty
                ? nil : configuration.publicKeyPins.map { "sha256//\($0.base64)" }.joined(separator: ";")
            let name = ProcessInfo.processInfo.processName.filter { HTTPGrammar.isToken(String($0)) }
            // As lines of the SDK, since libcurl would format its own twice.
            ownLines = [
                HeaderLine(
                    name: "User-Agent", value: "\(name.isEmpty ? "AtomNetworking" : name) libcurl/\(library.version)"),
                HeaderLine(name: "Accept-Encoding", value: library.contentCodings),
            ]
        }

        /// Connections that are kept while no exchange uses them.
        var keptConnections: Int { max(64, 4 * connectionsPerOrigin) }

        /// How many exchanges make sense at once with an origin of this protocol.
        func exchanges(isHTTP2: Bool) -> Int {
            isHTTP2 ? max(Self.multiplexedExchanges, connectionsPerOrigin) : connectionsPerOrigin
        }

        /// The proxy for a request; empty for none.
        func proxy(for target: TargetURL) -> String { proxies.proxy(for: target) }

        /// Sets the options of a proxy on a new handle.
        func setProxyOptions(on easy: atom_curl_easy) {
            Self.set(ATOM_CURLOPT_NOPROXY, proxies.exceptions, on: easy)
            if let username = proxies.username { Self.set(ATOM_CURLOPT_PROXYUSERNAME, username, on: easy) }
            if let password = proxies.password { Self.set(ATOM_CURLOPT_PROXYPASSWORD, password, on: easy) }
            // A proxy's answer to CONNECT is nobody's response.
            atom_curl_set_long(easy, CInt(ATOM_CURLOPT_SUPPRESS_CONNECT_HEADERS), 1)
        }

        /// Sets the options of TLS on a new handle.
        func secure(_ easy: atom_curl_easy, share: atom_curl_share?) {
            atom_curl_set_secure(easy, share)
            // Requests wait for the first connection to tell whether it
            // multiplexes.
            if multiplexes { atom_curl_set_long(easy, CInt(ATOM_CURLOPT_PIPEWAIT), 1) }
            if let authorities { Self.set(ATOM_CURLOPT_CAINFO, authorities.path, on: easy) }
            if replacesAuthorities || Self.hasSystemBundle { Self.set(ATOM_CURLOPT_CAPATH, nil, on: easy) }
            if let clientCertificate, let clientKey {
                Self.set(ATOM_CURLOPT_SSLCERT, clientCertificate.path, on: easy)
                Self.set(ATOM_CURLOPT_SSLKEY, clientKey.path, on: easy)
                if let passphrase { Self.set(ATOM_CURLOPT_KEYPASSWD, passphrase, on: easy) }
            }
            if let pins { Self.set(ATOM_CURLOPT_PINNEDPUBLICKEY, pins, on: easy) }
        }

        private static func set(_ option: Int, _ value: String?, on easy: atom_curl_easy) {
            atom_curl_set_text(easy, CInt(option), value)
        }

        /// Whether libcurl's default is a file with all authorities.
        ///
        /// Some systems name a folder with the same ones besides. With a folder
        /// libcurl reads everything again for each connection, which takes
        /// about 30 ms; otherwise it keeps what it has read for a day.
        private static let hasSystemBundle =
            atom_curl_default_authorities().map { FileManager.default.isReadableFile(atPath: String(cString: $0)) }
            ?? false

        /// The certificates that libcurl trusts by default, in PEM.
        private static func systemAuthorities() -> Data {
            var paths: [String] = []
            if let path = atom_curl_default_authorities() { paths.append(String(cString: path)) }
            paths += [
                "/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/ca-bundle.pem",
                "/etc/ssl/cert.pem",
            ]
            return paths.lazy.compactMap { FileManager.default.contents(atPath: $0) }.first ?? Data()
        }
    }

    extension CurlSettings: CustomReflectable {
        /// Keeps `dump` of a transport from showing a passphrase or a password.
        var customMirror: Mirror { Mirror(self, children: []) }
    }

    /// The proxies of a transport.
    private struct Proxies {
        /// Empty for none.
        let http: String
        let https: String
        /// Hosts that are reached directly, as libcurl reads them.
        let exceptions: String
        private(set) var username: String?
        private(set) var password: String?
        /// Whether plain HTTP to this machine would go to another one.
        private let keepsLoopbackHere: Bool

        init(_ proxy: CurlTransport.Proxy, environment: [String: String]) {
            switch proxy {
            case .environment:
                http = CurlTransport.ProxyServer.named(by: environment, for: .http) ?? ""
                https = CurlTransport.ProxyServer.named(by: environment, for: .https) ?? ""
                exceptions = environment["no_proxy"] ?? environment["NO_PROXY"] ?? ""
                keepsLoopbackHere = !http.isEmpty && CurlTransport.ProxyServer.isRemote(http)
            case .none:
                (http, https, exceptions, keepsLoopbackHere) = ("", "", "", false)
            case .server(let server):
                (http, https, keepsLoopbackHere) = (server.url, server.url, false)
                exceptions = server.exceptions.joined(separator: ",")
                (username, password) = (server.username, server.password)
            }
        }

        func proxy(for target: TargetURL) -> String {
            if target.scheme == .https { return https }
            // A credential for this machine would leave it, unencrypted.
            return keepsLoopbackHere && CurlTransport.ProxyServer.isLoopback(target.host) ? "" : http
        }
    }

    /// Bytes that libcurl reads as a file; they are never written to disk.
    final class MemoryFile: Sendable {
        private let descriptor: CInt

        init(_ bytes: Data) throws(AtomError) {
            descriptor = bytes.withUnsafeBytes { atom_curl_memory_file($0.baseAddress, $0.count) }
            guard descriptor >= 0 else {
                throw .requestable(
                    .unsupportedConfiguration(
                        .init(subject: "certificates", reason: "the system has no descriptor or memory for them")))
            }
        }

        deinit { atom_curl_memory_file_free(descriptor) }

        var path: String { "/proc/self/fd/\(descriptor)" }
    }
#endif
