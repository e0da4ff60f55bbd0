#if os(Linux)
    import Foundation

    extension CurlTransport {
        /// The settings of a transport, as the arguments of its `init` say.
        struct Configuration: Sendable {
            var trust: Trust = .system
            var clientCertificate: ClientCertificate?
            var publicKeyPins: [PublicKeyPin] = []
            var proxy: Proxy = .environment
            var connectionsPerOrigin = 6

            /// How many milliseconds a body waits for `100 Continue`, for tests; by default a second, as libcurl says.
            var expectationTimeout: Int?

            /// An option that libcurl is said not to have, for tests.
            var missingOption: Int?
        }

        /// The certificate authorities that are trusted.
        enum Trust: Sendable {
            case system
            case systemAnd(Certificates)
            case only(Certificates)
        }

        /// One or more X.509 certificates in PEM (RFC 7468).
        struct Certificates: Sendable {
            let bytes: Data

            init(pem: String) throws(AtomError) {
                guard try PEMText.check(pem, label: { $0 == "CERTIFICATE" }, of: "certificates") > 0 else {
                    throw PEMText.invalid("certificates", "no line begins with “-----BEGIN CERTIFICATE-----”")
                }
                bytes = Data(pem.utf8)
            }
        }

        /// A certificate with its private key.
        public struct ClientCertificate: Sendable {
            let chain: Certificates
            let privateKey: Data
            let passphrase: String?

            /// Creates a client certificate.
            ///
            /// - Parameters:
            ///   - chain: The certificate in PEM, followed by those of the
            ///     authorities between it and the root, if there are any.
            ///   - privateKey: The key in PEM.
            ///   - passphrase: The passphrase of an encrypted key.
            /// - Throws: ``AtomError/requestable(_:)`` with ``RequestableError/unsupportedConfiguration(_:)`` if there
            ///   is no certificate or no private key in the texts. Whether they belong together is found out by the
            ///   first handshake.
            public init(chain: String, privateKey: String, passphrase: String? = nil) throws(AtomError) {
                try self.init(chain: Certificates(pem: chain), privateKey: privateKey, passphrase: passphrase)
            }

            init(chain: Certificates, privateKey: String, passphrase: String? = nil) throws(AtomError) {
                guard try PEMText.check(privateKey, label: { $0.hasSuffix("PRIVATE KEY") }, of: "private key") > 0
                else {
                    throw PEMText.invalid("private key", "no line begins with “-----BEGIN PRIVATE KEY-----”")
                }
                self.chain = chain
                self.privateKey = Data(privateKey.utf8)
                self.passphrase = passphrase
            }
        }

        /// The SHA-256 digest of a server's public key (RFC 7469 §2.4).
        struct PublicKeyPin: Sendable, Hashable {
            let base64: String

            /// Takes the digest in base64, also with `sha256/` before it.
            init(sha256 base64: String) throws(AtomError) {
                // The digest itself may begin with a slash.
                let prefixes = ["sha256//", "sha256/", ""].filter(base64.hasPrefix)
                let digests = prefixes.compactMap { Data(base64Encoded: String(base64.dropFirst($0.count))) }
                guard let digest = digests.first(where: { $0.count == 32 }) else {
                    throw PEMText.invalid("public key pin", "a pin is the base64 of a SHA-256 digest, 32 bytes")
                }
                self.base64 = digest.base64EncodedString()
            }
        }

        /// How servers are reached.
        ///
        /// A plain HTTP request to this machine never goes to a proxy on another one.
        public struct Proxy: Sendable {
            enum Choice: Sendable {
                case environment
                case none
                case server(ProxyServer)
            }

            let choice: Choice

            /// As the variables `http_proxy`, `https_proxy`, `all_proxy` and
            /// `no_proxy` say, read when the transport is created.
            ///
            /// If such a value can't be used, exchanges fail before anything is sent.
            public static let environment = Proxy(choice: .environment)

            /// Directly.
            public static let none = Proxy(choice: .none)

            /// Over a proxy.
            ///
            /// - Parameters:
            ///   - url: The URL without user information, for example `http://gateway.example.com:3128`. The schemes
            ///     are `http`, `https`, `socks4`, `socks4a`, `socks5`, and `socks5h`, which lets the proxy look up
            ///     names. Without a port it is libcurl's: 443 for `https`, otherwise 1080.
            ///   - username: The user name for Basic authentication at the proxy.
            ///   - password: The password; it needs a user name.
            ///   - exceptions: Names of hosts, and domains with all their hosts,
            ///     that are reached directly, without ports; `*` stands for all.
            /// - Throws: ``AtomError/requestable(_:)`` with ``RequestableError/unsupportedConfiguration(_:)``.
            public static func server(
                _ url: String, username: String? = nil, password: String? = nil, exceptions: [String] = []
            ) throws(AtomError) -> Proxy {
                .server(try ProxyServer(url, username: username, password: password, exceptions: exceptions))
            }

            static func server(_ server: ProxyServer) -> Proxy { Proxy(choice: .server(server)) }
        }
    }

    // MARK: - Descriptions without secrets

    extension CurlTransport.Certificates: Redacted {
        var description: String { "certificates (\(bytes.count) bytes)" }
    }

    extension CurlTransport.ClientCertificate: Redacted {
        /// Never shows the key.
        public var description: String { "client certificate" }
    }

    // MARK: - PEM

    private enum PEMText {
        static func invalid(_ subject: String, _ reason: String) -> AtomError {
            .refused(RequestableError.unsupportedConfiguration, subject, because: reason)
        }

        /// Counts the blocks of a kind, and checks that each can be decoded.
        static func check(
            _ text: String, label isWanted: (Substring) -> Bool, of subject: String
        ) throws(AtomError) -> Int {
            var count = 0
            var content: String?
            // OpenSSL, too, sees a mark only at the beginning of a line.
            for line in text.split(whereSeparator: \.isNewline) {
                if let label = line.prefixMatch(of: /-----BEGIN ([^-]*)-----/)?.1 {
                    guard content == nil else { break }
                    content = isWanted(label) ? "" : nil
                } else if let block = content, line.hasPrefix("-----END ") {
                    // A DER sequence. The header fields of an encrypted key are not base64.
                    let hasFields = line.contains("PRIVATE KEY") && block.contains(":")
                    guard hasFields || Data(base64Encoded: block)?.first == 0x30 else {
                        throw invalid(subject, "a PEM block can't be decoded")
                    }
                    count += 1
                    content = nil
                } else {
                    content?.append(contentsOf: line.filter { !$0.isWhitespace })
                }
            }
            guard content == nil else { throw invalid(subject, "a PEM block has no end") }
            return count
        }
    }
#endif
