/// Scheme, host and port as they are compared (RFC 6454 §4, RFC 9110 §4.3.1).
///
/// A host with a dot at its end is another one, as for browsers: resolvers may complete `files.example` with a domain of
/// the network, but not `files.example.`, so the two can be two servers.
struct Origin: Hashable, Sendable {
    let scheme: BaseURLScheme
    let host: String
    let port: Int

    /// `scheme://host:port`, without the scheme's default port.
    var string: String { "\(scheme)://\(hostAndPort)" }

    /// `host:port`, without the scheme's default port.
    var hostAndPort: String { port == scheme.defaultPort ? host : "\(host):\(port)" }

    /// Whether nobody else can read what is sent to it: by TLS, or on this device.
    var isSecure: Bool { scheme == .https || isLoopback }

    /// Whether it is on this device; `localhost.` and names below `localhost` aren't: glibc, also under an older libcurl,
    /// asks the DNS for them.
    var isLoopback: Bool {
        guard host.utf8.starts(with: "127.".utf8) else { return host == "localhost" || host == "[::1]" }
        // Byte by byte: to split the text took 6,000 instructions of each request.
        var (dots, octet) = (0, -1)
        for byte in host.utf8 {
            if byte == UInt8(ascii: "."), octet >= 0 {
                (dots, octet) = (dots + 1, -1)
            } else if (0x30...0x39).contains(byte), octet < 26 {
                octet = max(octet, 0) * 10 + Int(byte - 0x30)
                guard octet < 256 else { return false }
            } else {
                return false
            }
        }
        return dots == 3 && octet >= 0
    }
}
