#if os(Linux)
    import Foundation

    extension CurlTransport {
        /// The settings of a transport over libcurl.
        ///
        /// ```swift
        /// import AtomNetworking
        ///
        /// var curl = CurlTransport.Configuration()
        /// curl.connectionsPerOrigin = 16
        /// curl.proxy = .none
        /// ```
        public struct Configuration: Sendable {
            /// The certificate authorities that a server's certificate may come
            /// from, and that of an `https` proxy; the system's by default.
            ///
            /// The certificate and its name are always verified.
            public var trust: Trust = .system

            /// The certificate that the client shows to a server that asks for
            /// one.
            public var clientCertificate: ClientCertificate?

            /// The public keys of which every server must have one, in addition to a valid
            /// certificate; empty, the default, accepts every key.
            ///
            /// Pin a second key that you hold in reserve, so that the server can change its key.
            public var publicKeyPins: [PublicKeyPin] = []

            /// The proxy; by default what the environment names.
            public var proxy: Proxy = .environment

            /// The number of connections to one origin, and so of exchanges with
            /// it at once, over HTTP/1.1; values below 1 count as 1.
            ///
            /// Over HTTP/2 one connection carries up to 100 exchanges at once.
            public var connectionsPerOrigin = 6

            /// How many milliseconds a body waits for `100 Continue`, for tests; by default
            /// a second, as libcurl says.
            var expectationTimeout: Int?

            /// An option that libcurl is said not to have, for tests.
            var missingOption: Int?

            /// Creates the default settings.
            public init() {}
        }

        /// The certificate authorities that are trusted.
        public enum Trust: Sendable {
            /// The system's.
            case system
            /// The system's, and these.
            case systemAnd(Certificates)
            /// Only these.
            case only(Certificates)
        }

        /// One or more X.509 certificates in PEM (RFC 7468).
        public struct Certificates: Sendable {
            let bytes: Data

            /// Takes the certificates from a text.
            ///
            /// - Throws: ``RequestableError/unsupportedConfiguration(_:)`` if it contains none,
            ///   or one that can't be decoded.
            public init(pem: String) throws(AtomError) {
                guard try PEMText.check(pem, label: { $0 == "CERTIFICATE" }, of: "certificates") > 0 else {
                    throw PEMText.invalid("certificates", "there is no “-----BEGIN CERTIFICATE-----”")
                }
                bytes = Data(pem.utf8)
            }

            /// Reads the certificates from a file.
            ///
            /// - Throws: The same as ``init(pem:)``, also if the file can't be
            ///   read.
            public init(contentsOf file: URL) throws(AtomError) {
                try self.init(pem: PEMText.read(file))
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
            ///   - chain: The certificate, followed by those of the authorities
            ///     between it and the root, if there are any.
            ///   - privateKey: The key in PEM.
            ///   - passphrase: The passphrase of an encrypted key.
            /// - Throws: ``RequestableError/unsupportedConfiguration(_:)`` for a text without a
            ///   private key. The first handshake shows whether it is the certificate's.
            public init(chain: Certificates, privateKey: String, passphrase: String? = nil) throws(AtomError) {
                guard try PEMText.check(privateKey, label: { $0.hasSuffix("PRIVATE KEY") }, of: "private key") > 0
                else {
                    throw PEMText.invalid("private key", "there is no “-----BEGIN PRIVATE KEY-----”")
                }
                self.chain = chain
                self.privateKey = Data(privateKey.utf8)
                self.passphrase = passphrase
            }
        }

        /// The SHA-256 digest of a server's public key (RFC 7469 §2.4).
        ///
        /// It is what this prints:
        ///
        /// ```
        /// openssl x509 -in server.pem -pubkey -noout | openssl pkey -pubin -outform der \
        ///     | openssl dgst -sha256 -binary | base64
        /// ```
        public struct PublicKeyPin: Sendable, Hashable {
            /// The digest in base64.
            public let base64: String

            /// Takes the digest in base64, also with `sha256/` before it.
            ///
            /// - Throws: ``RequestableError/unsupportedConfiguration(_:)`` if it isn't
            ///   the base64 of 32 bytes.
            public init(sha256 base64: String) throws(AtomError) {
                var text = base64[...]
                if text.hasPrefix("sha256/") { text = text.dropFirst(7).drop { $0 == "/" } }
                guard let digest = Data(base64Encoded: String(text)), digest.count == 32 else {
                    throw PEMText.invalid("public key pin", "a pin is the base64 of a SHA-256 digest, 32 bytes")
                }
                self.base64 = digest.base64EncodedString()
            }
        }

        /// How servers are reached.
        ///
        /// A plain HTTP request to this machine never goes to a proxy on another one.
        public enum Proxy: Sendable {
            /// As the variables `http_proxy`, `https_proxy`, `all_proxy` and
            /// `no_proxy` say, read when the transport is created.
            ///
            /// If such a value can't be used, exchanges fail before anything is sent.
            case environment
            /// Directly.
            case none
            /// Over this proxy.
            case server(ProxyServer)
        }
    }

    // MARK: - Descriptions without secrets

    extension CurlTransport.Certificates: CustomStringConvertible, CustomReflectable {
        /// Shows the size.
        public var description: String { "certificates (\(bytes.count) bytes)" }

        /// Limits `dump` to the content of ``description``.
        public var customMirror: Mirror { Mirror(self, children: ["bytes": bytes.count]) }
    }

    extension CurlTransport.ClientCertificate: CustomStringConvertible, CustomReflectable {
        /// Never shows the key.
        public var description: String { "client certificate" }

        /// Limits `dump` to the content of ``description``.
        public var customMirror: Mirror { Mirror(self, children: []) }
    }

    // MARK: - PEM

    private enum PEMText {
        static func invalid(_ subject: String, _ reason: String) -> AtomError {
            .refused(RequestableError.unsupportedConfiguration, subject, because: reason)
        }

        static func read(_ file: URL) throws(AtomError) -> String {
            do {
                return try String(contentsOf: file, encoding: .utf8)
            } catch {
                throw invalid(file.lastPathComponent, "the file can't be read")
            }
        }

        /// Counts the blocks of a kind, and checks that each can be decoded.
        static func check(
            _ text: String, label isWanted: (Substring) -> Bool, of subject: String
        ) throws(AtomError) -> Int {
            var count = 0
            let blocks = text.matches(
                of: /-----BEGIN ([^-]*)-----(.*?)(-----END |\z)/.dotMatchesNewlines())
            for block in blocks where isWanted(block.1) {
                guard !block.3.isEmpty else { throw invalid(subject, "a PEM block has no end") }
                let content = block.2.filter { !$0.isWhitespace }
                // A DER sequence. The header fields of an encrypted key are not base64.
                guard content.contains(":") || Data(base64Encoded: content)?.first == 0x30 else {
                    throw invalid(subject, "a PEM block can't be decoded")
                }
                count += 1
            }
            return count
        }
    }
#endif
