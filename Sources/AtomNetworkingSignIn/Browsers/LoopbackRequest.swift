import AtomNetworking

/// A request to the port of a ``LoopbackBrowser`` while its bytes arrive, as a pure value (RFC 9112 §2 to §5).
struct LoopbackRequest {
    /// The longest head in bytes.
    static let limit = 16 << 10

    private static let token = ByteSet.alphanumeric.union("!#$%&'*+-.^_`|~")
    /// What a path can have (RFC 3986 §3.3).
    static let path = PercentEncoding.unreserved.union("!$&'()*+,;=:@/%")
    private static let query = path.union("?")

    private let hosts: [String]
    private let path: String
    private var lines: [[UInt8]] = []
    private var line: [UInt8] = []
    private var count = 0

    /// - Parameters:
    ///   - port: The port that it was sent to.
    ///   - path: The path of the redirect URI.
    init(port: Int, path: String) {
        // A page of another name that resolves to this device must not get an answer. 80 is the port of a URL that
        // has none.
        hosts = ["127.0.0.1", "localhost"].flatMap { port == 80 ? [$0, "\($0):80"] : ["\($0):\(port)"] }
        self.path = path
    }

    /// Takes bytes, and returns the answer as soon as it is known.
    mutating func receive(_ bytes: some Sequence<UInt8>) -> LoopbackAnswer? {
        for byte in bytes {
            count += 1
            guard count <= Self.limit else { return .badRequest }
            guard byte == UInt8(ascii: "\n") else {
                line.append(byte)
                continue
            }
            // A line may end without CR, and one before the request may be empty (RFC 9112 §2.2).
            if line.last == UInt8(ascii: "\r") { line.removeLast() }
            if !line.isEmpty {
                lines.append(line)
                line = []
            } else if let first = lines.first {
                guard let hosts = Self.values(of: "host", in: lines.dropFirst()),
                    let destinations = Self.values(of: "sec-fetch-dest", in: lines.dropFirst()),
                    destinations.allSatisfy({ $0 == "document" })
                else { return .badRequest }
                return answer(to: first, for: hosts)
            }
        }
        return nil
    }

    private func answer(to line: [UInt8], for host: [String]) -> LoopbackAnswer {
        let parts = line.split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
            .map { String(decoding: $0, as: UTF8.self) }
        guard parts.count == 3, ["HTTP/1.1", "HTTP/1.0"].contains(parts[2]), host.count == 1, hosts.contains(host[0]),
            line.allSatisfy({ (0x20...0x7E).contains($0) && $0 != UInt8(ascii: "#") })
        else { return .badRequest }
        let target = parts[1].split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        guard target[0] == path else { return target[0].first == "/" ? .notFound : .badRequest }
        guard parts[0] == "GET" else { return .methodNotAllowed }
        // What an image or a script of any web page asks for is no callback.
        guard target.count == 2, Self.isCallback(target[1]) else { return .badRequest }
        return .callback(query: Self.encoded(String(target[1])))
    }

    /// Whether a query has what each callback has (RFC 6749 §4.1.2).
    private static func isCallback(_ query: Substring) -> Bool {
        let names = query.split(separator: "&").map { $0.prefix { $0 != "=" } }
        return names.contains("code") || names.contains("error")
    }

    /// A query with nothing in it that a URL can't have (RFC 3986 §3.4).
    ///
    /// Browsers send some such characters. Foundation's versions differ about them, and encode what is encoded already.
    private static func encoded(_ query: String) -> String {
        let parts = PercentEncoding.encode(query, allowing: Self.query)
            .split(separator: "%", omittingEmptySubsequences: false)
        return parts.dropFirst().reduce(String(parts[0])) { text, part in
            let isOctet = part.utf8.prefix(2).compactMap(PercentEncoding.hexValue).count == 2
            return text + (isOctet ? "%" : "%25") + part
        }
    }

    /// The values of the fields of a name; `nil` if a field breaks a rule (RFC 9112 §3.2, §5).
    private static func values(of name: String, in fields: some Sequence<[UInt8]>) -> [String]? {
        var values: [String] = []
        for field in fields {
            guard let colon = field.firstIndex(of: UInt8(ascii: ":")), colon > 0,
                field[..<colon].allSatisfy({ token.contains($0) }),
                field.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 })
            else { return nil }
            guard String(decoding: field[..<colon], as: UTF8.self).lowercased() == name else { continue }
            let value = field[(colon + 1)...].filter { $0 != 0x20 && $0 != 0x09 }
            values.append(String(decoding: value, as: UTF8.self).lowercased())
        }
        return values
    }
}
