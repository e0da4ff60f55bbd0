/// The name that a request has at the client and at the server: the process that made
/// it, and its number there.
struct RequestName: Hashable, Sendable, CustomStringConvertible {
    private let bits: UInt64

    init(process: Int, number: Int) { bits = UInt64(process) << 40 | UInt64(number) }

    init?(_ text: some StringProtocol) {
        let parts = text.split(separator: "-")
        guard parts.count == 2, let process = Int(parts[0]), let number = Int(parts[1]) else { return nil }
        self.init(process: process, number: number)
    }

    var process: Int { Int(bits >> 40) }
    var number: Int { Int(bits & (1 << 40 - 1)) }
    var chance: UInt64 { bits }
    var description: String { "\(process)-\(number)" }
}

/// What a client does.
enum Kind: String, Sendable, CaseIterable {
    case get, completion, post, put, open, hop, postHop, leave, shared, stream, download, resumed

    /// Whether the request carries somebody's token.
    var isSigned: Bool { self != .open }

    /// Whether several callers have one request at the server.
    var isShared: Bool { self == .shared }

    /// Whether the caller gets a response bit by bit; the servers break some off even if they are calm.
    var isPartial: Bool { [.stream, .download, .resumed].contains(self) }

    /// Whether the server may get the request only once, unless it has not processed it.
    var isOnce: Bool { self == .post || self == .postHop }
}
