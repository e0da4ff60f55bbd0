#if os(Linux)
    internal import CAtomCurl
    import Foundation

    /// The options that all transfers of a transport have in common.
    final class CurlSettings: Sendable {
        /// How many exchanges libcurl puts on one connection.
        static let multiplexedExchanges = 100

        let connectionsPerOrigin: Int
        let library: CurlLibrary
        /// How many milliseconds a body waits for `100 Continue`, if not libcurl's.
        let expectationTimeout: Int?
        /// The header fields that every request has unless it sets them itself.
        let ownFields: HeaderFields
        private typealias ProxyChoice = Result<CurlTransport.ProxyServer?, CurlLibrary.Unavailable>
        private let httpProxy: ProxyChoice
        private let httpsProxy: ProxyChoice
        /// The one that the app has set.
        private let ownProxy: CurlTransport.ProxyServer?
        private let authorities: MemoryFile?
        private let replacesAuthorities: Bool
        let clientCertificate: MemoryFile?
        private let clientKey: MemoryFile?
        private let passphrase: String?
        private let pins: String?
        private let missingOption: Int?
        /// Whether libcurl, left to itself, might use a proxy.
        private let mayFindProxy: Bool

        init(_ configuration: CurlTransport.Configuration, library: CurlLibrary) throws(AtomError) {
            connectionsPerOrigin = min(max(configuration.connectionsPerOrigin, 1), 1 << 20)
            self.library = library
            expectationTimeout = configuration.expectationTimeout
            missingOption = configuration.missingOption
            let environment = ProcessInfo.processInfo.environment
            func named(_ scheme: BaseURLScheme) -> ProxyChoice {
                ProxyChoice { () throws(CurlLibrary.Unavailable) in
                    try CurlTransport.ProxyServer.named(by: environment, for: scheme)
                }
            }
            switch configuration.proxy.choice {
            case .environment: (httpProxy, httpsProxy, ownProxy) = (named(.http), named(.https), nil)
            case .none: (httpProxy, httpsProxy, ownProxy) = (.success(nil), .success(nil), nil)
            case .server(let server): (httpProxy, httpsProxy, ownProxy) = (.success(server), .success(server), server)
            }
            mayFindProxy = environment.contains { $0.key.lowercased().hasSuffix("_proxy") && !$0.value.isEmpty }
            switch configuration.trust {
            case .system: (authorities, replacesAuthorities) = (nil, false)
            case .systemAnd(let own):
                authorities = try MemoryFile(Self.systemAuthorities() + Data("\n".utf8) + own.bytes)
                replacesAuthorities = false
            case .only(let own): (authorities, replacesAuthorities) = (try MemoryFile(own.bytes), true)
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
            // As fields of the SDK, since libcurl would format its own twice.
            ownFields = HeaderFields([
                .init(
                    name: "User-Agent", value: "\(name.isEmpty ? "AtomNetworking" : name) libcurl/\(library.version)"),
                .init(name: "Accept-Encoding", value: library.contentCodings),
            ])
        }

        /// Connections that are kept while no exchange uses them.
        var keptConnections: Int { max(64, 4 * connectionsPerOrigin) }

        /// How many exchanges make sense at once with an origin of this protocol.
        func exchanges(isHTTP2: Bool) -> Int {
            isHTTP2 ? max(Self.multiplexedExchanges, connectionsPerOrigin) : connectionsPerOrigin
        }

        /// Tries the options that protect before the first exchange.
        func check() throws(AtomError) {
            guard let easy = atom_curl_easy_plain() else { return }
            defer { atom_curl_easy_free(easy) }
            guard let problem = secure(easy, share: nil) ?? ownProxy.flatMap({ set($0, on: easy) }) else {
                return
            }
            throw .refused(RequestableError.unsupportedConfiguration, "CurlTransport", because: problem.explanation)
        }

        /// The proxy for a request; it throws if the environment names an unusable one.
        func proxy(for target: TargetURL) throws(CurlLibrary.Unavailable) -> CurlTransport.ProxyServer? {
            let proxy = try (target.scheme == .http ? httpProxy : httpsProxy).get()?.reaching(
                target.host, port: target.port)
            guard target.scheme == .http else { return proxy }
            // A credential for this machine would leave it, unencrypted.
            return proxy?.isLoopback == false && target.origin.isLoopback ? nil : proxy
        }

        /// Whether a request sets, besides its target and fields, only what all requests with its scheme set.
        func isPlain(_ request: TransportRequest) -> Bool {
            let proxy = request.target.scheme == .http ? httpProxy : httpsProxy
            guard case .success(nil) = proxy, request.method == "GET", request.body == nil else { return false }
            return !request.needsFreshConnection && request.idleTimeout <= CurlTransfer.usualTimeout
        }

        /// Sets the options of a proxy on a new handle, and returns what libcurl refuses.
        func set(_ proxy: CurlTransport.ProxyServer?, on easy: atom_curl_easy) -> WireProblem? {
            guard let proxy else {
                // Or libcurl would search the environment; one without proxies may not know it.
                return set(ATOM_CURLOPT_NOPROXY, "*", on: easy) || !mayFindProxy
                    ? nil : .proxy("libcurl doesn't accept to use none")
            }
            var isAccepted = set(ATOM_CURLOPT_PROXY, proxy.url, on: easy)
            isAccepted = set(ATOM_CURLOPT_NOPROXY, proxy.exceptions.joined(separator: ","), on: easy) && isAccepted
            for (option, text) in [
                (ATOM_CURLOPT_PROXYUSERNAME, proxy.username), (ATOM_CURLOPT_PROXYPASSWORD, proxy.password),
            ] {
                guard var text else { continue }
                if library.decodesProxyCredentials { text = text.replacingOccurrences(of: "%", with: "%25") }
                if library.cutsProxyCredentials, text.utf8.count > 255 {
                    return .proxy("libcurl \(library.version) takes at most 255 bytes of a user name or a password")
                }
                isAccepted = set(option, text, on: easy) && isAccepted
            }
            guard isAccepted else { return .proxy("libcurl doesn't accept it") }
            // A proxy's answer to CONNECT is nobody's response.
            atom_curl_set_long(easy, CInt(ATOM_CURLOPT_SUPPRESS_CONNECT_HEADERS), 1)
            guard proxy.isSecure else { return nil }
            guard set(ATOM_CURLOPT_PROXY_SSLVERSION, Int(ATOM_CURL_TLS_1_2), on: easy),
                setAuthorities(on: easy, file: ATOM_CURLOPT_PROXY_CAINFO, folder: ATOM_CURLOPT_PROXY_CAPATH)
            else { return .proxy("libcurl can't verify the certificate of a proxy") }
            return nil
        }

        /// Sets the options of TLS on a new handle, and returns what libcurl refuses.
        func secure(_ easy: atom_curl_easy, share: atom_curl_share?) -> WireProblem? {
            func refused(_ option: String) -> WireProblem {
                .insecure(.secureConnectionFailed, "libcurl doesn't accept \(option)")
            }
            if let share { atom_curl_set_share(easy, share) }
            guard set(ATOM_CURLOPT_SSLVERSION, Int(ATOM_CURL_TLS_1_2), on: easy) else {
                return refused("TLS 1.2 as the oldest version")
            }
            // Requests wait until the first connection tells whether it multiplexes.
            if library.usesHTTP2 { atom_curl_set_long(easy, CInt(ATOM_CURLOPT_PIPEWAIT), 1) }
            guard setAuthorities(on: easy, file: ATOM_CURLOPT_CAINFO, folder: ATOM_CURLOPT_CAPATH) else {
                return refused("the certificates of authorities")
            }
            if let clientCertificate, let clientKey {
                guard set(ATOM_CURLOPT_SSLCERT, clientCertificate.path, on: easy),
                    set(ATOM_CURLOPT_SSLKEY, clientKey.path, on: easy),
                    // Without one, OpenSSL would ask for it at the terminal, or on standard input.
                    set(ATOM_CURLOPT_KEYPASSWD, passphrase ?? "", on: easy)
                else { return refused("the client's certificate, its key or the key's passphrase") }
            }
            guard pins.map({ set(ATOM_CURLOPT_PINNEDPUBLICKEY, $0, on: easy) }) ?? true else {
                return refused("the public key pins")
            }
            return nil
        }

        /// Sets whom a server or a proxy may have its certificate from.
        private func setAuthorities(on easy: atom_curl_easy, file: Int, folder: Int) -> Bool {
            if let authorities, !set(file, authorities.path, on: easy) { return false }
            guard replacesAuthorities || Self.hasSystemBundle else { return true }
            // A TLS library may read no folders.
            return remove(folder, on: easy)
        }

        private func set(_ option: Int, _ value: String, on easy: atom_curl_easy) -> Bool {
            option != missingOption && atom_curl_set_text(easy, CInt(option), value) == 0
        }

        func set(_ option: Int, _ value: Int, on easy: atom_curl_easy) -> Bool {
            option != missingOption && atom_curl_set_long(easy, CInt(option), value) == 0
        }

        /// Returns whether libcurl has no such text any more, or never had one.
        func remove(_ option: Int, on easy: atom_curl_easy) -> Bool {
            let code = option == missingOption ? -1 : atom_curl_set_text(easy, CInt(option), nil)
            return code == 0 || code == CInt(ATOM_CURL_NOT_BUILT_IN)
        }

        /// Whether libcurl's default is a file with all authorities.
        ///
        /// A folder, which some systems name besides, is read again for each connection,
        /// for about 30 ms; a file is kept for a day.
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

    extension CurlSettings: Redacted {}

    /// Bytes that libcurl reads as a file; they are never written to disk.
    final class MemoryFile: Sendable {
        private let descriptor: CInt

        init(_ bytes: Data) throws(AtomError) {
            descriptor = bytes.withUnsafeBytes { atom_curl_memory_file($0.baseAddress, $0.count) }
            guard descriptor >= 0 else {
                throw .refused(
                    RequestableError.unsupportedConfiguration, "certificates",
                    because: "the system has no descriptor or memory for them")
            }
        }

        deinit { atom_curl_memory_file_free(descriptor) }

        var path: String { "/proc/self/fd/\(descriptor)" }
    }
#endif
