#if os(Linux)
    import Foundation

    extension CurlTransport {
        /// A proxy that requests are sent over.
        public struct ProxyServer: Sendable {
            /// The scheme, host and port.
            public let url: String
            /// The hosts that are reached directly.
            public let exceptions: [String]
            let username: String?
            let password: String?

            /// Creates a proxy.
            ///
            /// - Parameters:
            ///   - url: The URL without user information, for example
            ///     `http://gateway.example.com:3128`. The schemes are `http`,
            ///     `https`, `socks4`, `socks4a`, `socks5`, and `socks5h`, which
            ///     lets the proxy look up names.
            ///   - username: The user name for Basic authentication at the proxy.
            ///   - password: The password.
            ///   - exceptions: Names of hosts, and domains with all their hosts,
            ///     that are reached directly; `*` stands for all.
            /// - Throws: ``AtomError/requestable(_:)`` with
            ///   ``RequestableError/unsupportedConfiguration(_:)``.
            public init(
                _ url: String, username: String? = nil, password: String? = nil, exceptions: [String] = []
            ) throws(AtomError) {
                func invalid(_ reason: String) -> AtomError {
                    .requestable(.unsupportedConfiguration(.init(subject: "proxy", reason: reason)))
                }
                guard let parts = URLComponents(string: url), let scheme = parts.scheme?.lowercased(),
                    let host = parts.encodedHost, !host.isEmpty
                else { throw invalid("a proxy is a URL such as http://gateway.example.com:3128") }
                guard Self.schemes.contains(scheme) else {
                    throw invalid("its scheme is none of \(Self.schemes.joined(separator: ", "))")
                }
                guard parts.user == nil, parts.password == nil else {
                    throw invalid("user name and password have parameters of their own")
                }
                guard parts.path.isEmpty || parts.path == "/", parts.query == nil, parts.fragment == nil else {
                    throw invalid("it has nothing after the port")
                }
                let bracketed = host.contains(":") && !host.hasPrefix("[") ? "[\(host)]" : host
                let base = try BaseURL(scheme: .http, host: bracketed, port: parts.port)
                self.url = "\(scheme)://\(base.string.dropFirst("http://".count))"
                self.username = username
                self.password = password
                for exception in exceptions
                where exception.isEmpty || exception.contains(where: { $0 == "," || $0.isWhitespace }) {
                    throw invalid("an exception is one name or address")
                }
                self.exceptions = exceptions
            }

            private static let schemes = ["http", "https", "socks4", "socks4a", "socks5", "socks5h"]
        }
    }

    extension CurlTransport.ProxyServer: CustomStringConvertible, CustomReflectable {
        /// Shows the URL, and never user name or password.
        public var description: String { url }

        /// Limits `dump` to the content of ``description``.
        public var customMirror: Mirror { Mirror(self, children: ["url": url]) }
    }

    extension CurlTransport.ProxyServer {
        /// The proxy that the environment names for a scheme, as libcurl reads
        /// it; `nil` if there is none.
        static func named(by environment: [String: String], for scheme: BaseURLScheme) -> String? {
            // Not HTTP_PROXY, which a web server may set from a request's header
            // field.
            let names = scheme == .http ? ["http_proxy"] : ["https_proxy", "HTTPS_PROXY"]
            return (names + ["all_proxy", "ALL_PROXY"]).lazy.compactMap { environment[$0] }.first { !$0.isEmpty }
        }

        /// Whether a proxy of the environment isn't on this machine.
        static func isRemote(_ proxy: String) -> Bool {
            let url = proxy.contains("://") ? proxy : "http://\(proxy)"
            guard let host = URLComponents(string: url)?.encodedHost, !host.isEmpty else { return true }
            return !isLoopback(host)
        }

        /// Whether a host is this machine (RFC 6761 §6.3, RFC 1122 §3.2.1.3, RFC
        /// 4291 §2.5.3).
        static func isLoopback(_ host: String) -> Bool {
            let host = host.lowercased()
            if host == "localhost" || host.hasSuffix(".localhost") || host == "[::1]" || host == "::1" { return true }
            let labels = host.split(separator: ".", omittingEmptySubsequences: false)
            return labels.count == 4 && labels[0] == "127" && labels.allSatisfy { UInt8($0) != nil }
        }
    }
#endif
