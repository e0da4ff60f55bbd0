import AtomNetworking
import Foundation

/// The newest nonce of each origin (RFC 9449 §8.2, §9).
///
/// An authorization server and a resource server on one origin share a nonce: a response doesn't say which of them sent
/// it. At worst each asks for another proof whenever the other one was asked before.
struct ServerNonces: Sendable {
    /// The one that was heard of last is at the end.
    private var kept: [(origin: String, nonce: String)] = []

    static let mostOrigins = 64
    static let longestNonce = 2_048

    subscript(_ target: TargetURL) -> String? {
        let origin = Self.origin(of: target)
        return kept.first { $0.origin == origin }?.nonce
    }

    /// Keeps a nonce in place of the origin's earlier one, and returns whether it can be used.
    mutating func keep(_ nonce: String, of url: URL) -> Bool {
        guard Self.isNonce(nonce), let origin = Self.origin(of: url) else { return false }
        kept.removeAll { $0.origin == origin }
        if kept.count == Self.mostOrigins { kept.removeFirst() }
        kept.append((origin, nonce))
        return true
    }

    /// `1*NQCHAR` (RFC 9449 §8.1).
    private static func isNonce(_ text: String) -> Bool {
        (1...longestNonce).contains(text.utf8.count)
            && text.utf8.allSatisfy {
                (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\")
            }
    }

    /// Scheme, host and port (RFC 6454 §4), read from the text: Foundation's hosts have brackets on some systems only.
    private static func origin(of url: URL) -> String? {
        let text = url.absoluteString
        guard let start = text.range(of: "://")?.upperBound else { return nil }
        let end = text[start...].firstIndex { "/?#".contains($0) } ?? text.endIndex
        guard let base = try? BaseURL(string: String(text[..<end])), let path = try? URLPath("/") else { return nil }
        return origin(of: TargetURL(base: base, path: path))
    }

    private static func origin(of target: TargetURL) -> String {
        "\(target.scheme.rawValue)://\(target.host):\(target.port)"
    }
}
