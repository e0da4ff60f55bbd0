import Foundation

/// A challenge: how a server wants a request to be authenticated (RFC 9110 §11.3).
///
/// They are the ``AtomResponse/challenges`` of a response.
///
/// <!-- given the airline -->
/// ```swift
/// do {
///     try await service.resume()
/// } catch {
///     let challenges = error.response?.challenges ?? []
///     for challenge in challenges where challenge["error"] == "insufficient_scope" {
///         print("The token isn't enough: \(challenge)")
///     }
/// }
/// ```
public struct AuthenticationChallenge: Sendable, Hashable {
    /// The scheme in lower case, for example `bearer` or `basic`.
    public let scheme: String

    /// What a scheme such as `negotiate` has in place of parameters (RFC 9110 §11.2).
    public private(set) var token68: String?

    private var parameters = HeaderFields()

    /// The value of a parameter, without quotation marks; the case of the name makes no difference (RFC 9110 §11.2).
    public subscript(_ name: String) -> String? { parameters[name] }

    /// The part of the server that a credential is for (RFC 9110 §11.5).
    public var realm: String? { self["realm"] }

    /// The scope that a token needs, with spaces between its parts (RFC 6750 §3).
    public var scope: String? { self["scope"] }

    /// The document in which the server says who issues its tokens (RFC 9728 §5.1).
    ///
    /// Before you use it, compare the `resource` in it with the server's URL (§3.3).
    public var resourceMetadata: URL? { self["resource_metadata"].flatMap(HTTPGrammar.url) }
}

extension AuthenticationChallenge: Redacted {
    /// Shows the scheme, the names of the parameters, and realm, scope and error; other values may be secrets.
    public var description: String {
        let shown = parameters.map { parameter in
            let isPlain = ["realm", "scope", "error"].contains(parameter.name.lowercased())
            let value = isPlain ? Redaction.excerpt(parameter.value) : Redaction.hidden
            return "\(Redaction.name(parameter.name))=\"\(value)\""
        }
        let rest = token68 == nil ? shown.joined(separator: ", ") : Redaction.hidden
        return Redaction.name(scheme) + (rest.isEmpty ? "" : " " + rest)
    }
}

extension HeaderFields {
    /// The challenges of all `WWW-Authenticate` fields, of which 64 KiB are read.
    var challenges: [AuthenticationChallenge] {
        var (challenges, room) = ([AuthenticationChallenge](), 64 << 10)
        for value in values(for: "WWW-Authenticate") where value.utf8.count <= room {
            room -= value.utf8.count
            var reader = AuthenticationChallenge.Reader(bytes: Array(value.utf8))
            reader.read(into: &challenges)
        }
        return challenges
    }

    /// The errors that the challenges name (RFC 6750 §3.1, RFC 9449 §7.1).
    var challengeErrors: [String] { challenges.compactMap { $0["error"] } }
}

extension AuthenticationChallenge {
    /// Reads one field (RFC 9110 §11.6.1), each octet at most twice.
    ///
    /// As with other readers, an unquoted value may have any visible characters, and a comma before a parameter may
    /// be missing. At any other mistake it ends: what follows could be read in more than one way.
    fileprivate struct Reader {
        let bytes: [UInt8]
        private var index = 0

        init(bytes: [UInt8]) { self.bytes = bytes }

        mutating func read(into challenges: inout [AuthenticationChallenge]) {
            let first = challenges.count
            while true {
                let isStart = index == 0
                // Elements of a list may be empty (§5.6.1).
                let isElement = take { Self.isBlank($0) || $0 == Self.comma }.contains(Self.comma) || isStart
                let name = take(while: HTTPGrammar.isTokenByte)
                guard !name.isEmpty else { return }
                let isBeforeBlank = next.map(Self.isBlank) == true
                _ = take(while: Self.isBlank)
                if next == UInt8(ascii: "=") {
                    guard challenges.count > first, challenges[challenges.count - 1].token68 == nil else { return }
                    index += 1
                    _ = take(while: Self.isBlank)
                    guard let value = value(), isAtEndOfValue else { return }
                    challenges[challenges.count - 1].parameters.append(name: Self.text(name), value: value)
                } else {
                    guard isElement, isBeforeBlank || isAtEndOfValue else { return }
                    challenges.append(
                        AuthenticationChallenge(scheme: Self.text(name).lowercased(), token68: token68()))
                }
            }
        }

        private var next: UInt8? { index < bytes.count ? bytes[index] : nil }

        private var isAtEndOfValue: Bool { next.map { Self.isBlank($0) || $0 == Self.comma } ?? true }

        private mutating func take(while isPart: (UInt8) -> Bool) -> ArraySlice<UInt8> {
            let part = bytes[index...].prefix(while: isPart)
            index = part.endIndex
            return part
        }

        /// The `token68` before the next comma; it takes nothing if parameters come.
        private mutating func token68() -> String? {
            let start = index
            let hasText = !take(while: Self.token68Bytes.contains).isEmpty
            _ = take { $0 == UInt8(ascii: "=") }
            let end = index
            _ = take(while: Self.isBlank)
            guard hasText, next == nil || next == Self.comma else {
                index = start
                return nil
            }
            return Self.text(bytes[start..<end])
        }

        private mutating func value() -> String? {
            guard next == Self.quote else {
                let value = take { $0 > 0x20 && $0 != 0x7F && $0 != Self.comma && $0 != Self.quote }
                return value.isEmpty ? nil : Self.text(value)
            }
            var (value, isEscaped) = ([UInt8](), false)
            index += 1
            while let byte = next {
                guard byte >= 0x20 && byte != 0x7F || byte == 0x09 else { return nil }
                index += 1
                if isEscaped || byte != Self.quote && byte != UInt8(ascii: "\\") {
                    value.append(byte)
                    isEscaped = false
                } else if byte == Self.quote {
                    return Self.text(value[...])
                } else {
                    isEscaped = true
                }
            }
            return nil
        }

        private static let comma = UInt8(ascii: ",")
        private static let quote = UInt8(ascii: "\"")
        private static let token68Bytes = ByteSet.alphanumeric.union("-._~+/")

        private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

        private static func text(_ bytes: ArraySlice<UInt8>) -> String { String(decoding: bytes, as: UTF8.self) }
    }

    private init(scheme: String, token68: String?) {
        self.scheme = scheme
        self.token68 = token68
    }
}
