#if os(Linux)
    import Foundation

    extension CurlTransport {
        /// A proxy that requests are sent over.
        struct ProxyServer: Sendable {
            /// The scheme, host and port.
            let url: String
            /// The hosts that are reached directly, those of the environment perhaps with a port.
            private(set) var exceptions: [String]
            let username: String?
            let password: String?
            let isLoopback: Bool

            init(
                _ url: String, username: String? = nil, password: String? = nil, exceptions: [String] = []
            ) throws(AtomError) {
                func invalid(_ reason: String) -> AtomError {
                    .refused(RequestableError.unsupportedConfiguration, "proxy", because: reason)
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
                guard let base = try? BaseURL(scheme: .http, host: bracketed, port: parts.port) else {
                    throw invalid("its host or its port is invalid")
                }
                self.url = "\(scheme)://\(base.string.dropFirst("http://".count))"
                isLoopback = Origin(scheme: .http, host: bracketed.lowercased(), port: 0).isLoopback
                guard username != nil || password == nil, Self.canBeSent(username), Self.canBeSent(password),
                    !scheme.hasPrefix("http") || username?.contains(":") != true
                else { throw invalid("a password needs a user name, without a colon (RFC 7617 §2), and both are text") }
                self.username = username
                self.password = password
                // libcurl compares each with a host, and knows `*` only alone.
                let names = exceptions.map { Self.withoutBrackets($0[...]) }
                for name in names
                where name.isEmpty || name.contains(where: { ",[]".contains($0) || $0.isWhitespace })
                    || (name.contains("*") && name != "*") || name.filter({ $0 == ":" }).count == 1
                {
                    throw invalid("an exception is one name or address, without a port")
                }
                self.exceptions = names.contains("*") ? ["*"] : names
            }

            private static func withoutBrackets(_ name: Substring) -> String {
                String(name.hasPrefix("[") && name.hasSuffix("]") ? name.dropFirst().dropLast() : name)
            }

            /// Whether libcurl sends all of a text: a NUL would end it.
            private static func canBeSent(_ text: String?) -> Bool {
                text?.utf8.contains { $0 < 0x20 || $0 == 0x7F } != true
            }

            private static let schemes = ["http", "https", "socks4", "socks4a", "socks5", "socks5h"]
        }
    }

    extension CurlTransport.ProxyServer: Redacted {
        /// Shows the URL, and never user name or password.
        var description: String { url }
    }

    extension CurlTransport.ProxyServer {
        /// The proxy that the environment names for a scheme, where libcurl would look
        /// for it; the error doesn't show the value, which may contain a password.
        static func named(
            by environment: [String: String], for scheme: BaseURLScheme
        ) throws(CurlLibrary.Unavailable) -> Self? {
            // Not HTTP_PROXY, which a web server sets from a header field.
            let names =
                (scheme == .http ? ["http_proxy"] : ["https_proxy", "HTTPS_PROXY"]) + ["all_proxy", "ALL_PROXY"]
            guard let name = names.first(where: { environment[$0]?.isEmpty == false }), let text = environment[name]
            else { return nil }
            let exceptions = ["no_proxy", "NO_PROXY"].lazy.compactMap { environment[$0] }.first { !$0.isEmpty }
            return try Self(name, environment: text, exceptions: exceptions ?? "")
        }

        /// The same with the exceptions that hold for a server's port, without it: libcurl compares only names.
        ///
        /// For a host with a dot at its end each has one, too: nearly every libcurl would see another name.
        func reaching(_ host: String, port: Int) -> Self {
            var proxy = self
            let names = exceptions.compactMap { text in
                // The colons of an IPv6 address are in brackets, or it has no port.
                guard let colon = text.lastIndex(of: ":"),
                    text[..<colon].hasSuffix("]") || text.firstIndex(of: ":") == colon
                else { return Self.withoutBrackets(text[...]) }
                return Int(text[colon...].dropFirst()) == port ? Self.withoutBrackets(text[..<colon]) : nil
            }
            proxy.exceptions =
                host.hasSuffix(".") ? names + names.filter { $0 != "*" && !$0.hasSuffix(".") }.map { $0 + "." } : names
            return proxy
        }

        /// Whether its certificate is verified.
        var isSecure: Bool { url.hasPrefix("https:") }

        /// Reads what libcurl would read: the scheme may be missing, a user name and a
        /// password may be there, and a host may be one that only this network knows.
        private init(
            _ name: String, environment text: String, exceptions: String
        ) throws(CurlLibrary.Unavailable) {
            func unusable(_ fault: String) -> CurlLibrary.Unavailable { .init(reason: "the value of \(name) \(fault)") }
            let end = text.range(of: "://")
            let scheme = end.map { text[..<$0.lowerBound].lowercased() } ?? "http"
            let rest = text[(end?.upperBound ?? text.startIndex)...]
            let authority = rest.prefix { !"/?#".contains($0) }
            let at = authority.lastIndex(of: "@")
            let place = at.map { authority[authority.index(after: $0)...] } ?? authority
            // A host in brackets has its closing one, or the length doesn't fit.
            let host = place.hasPrefix("[") ? place.prefix { $0 != "]" } + "]" : place.prefix { $0 != ":" }
            let port = place.dropFirst(host.count)
            let user = at.map { authority[..<$0].split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false) }
            func decoded(_ part: Substring?) -> String? { part.map { $0.removingPercentEncoding ?? String($0) } }
            // A password that isn't encoded may have ended the authority, and nothing of it may
            // be taken for a host or a port.
            guard Self.schemes.contains(scheme) || scheme == "socks", !host.isEmpty,
                !rest.dropFirst(authority.count).contains("@"), place.hasPrefix(host),
                port.isEmpty || port.wholeMatch(of: /:[0-9]+/) != nil,
                place.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f })
            else { throw unusable("is not the URL of a proxy") }
            guard port.isEmpty || (1...65_535).contains(Int(port.dropFirst()) ?? 0) else {
                throw unusable("has a port that is not in 1…65535")
            }
            url = "\(scheme)://\(place)"
            isLoopback = Origin(scheme: .http, host: host.lowercased(), port: 0).isLoopback
            (username, password) = (decoded(user?.first), decoded(user?.dropFirst().first))
            guard Self.canBeSent(username), Self.canBeSent(password) else {
                throw unusable("is not the URL of a proxy")
            }
            self.exceptions = exceptions.split { ", \t".contains($0) }.map(String.init)
        }
    }
#endif
