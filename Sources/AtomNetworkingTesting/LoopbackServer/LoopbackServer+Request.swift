import Foundation

extension LoopbackServer {
    /// A header field, a trailer, or an item of a form or query.
    public struct Field: Sendable, Hashable {
        /// The name as it was sent.
        public let name: String
        /// The value, without surrounding whitespace.
        public let value: String

        /// Whether the field has this name, ignoring case.
        func isNamed(_ other: String) -> Bool { isSameName(name, other) }
    }

    /// A request as received, including its body.
    public struct Request: Sendable {
        /// The method, `GET` for example.
        public internal(set) var method: String
        /// The request target as sent, `/v1/a%20b?x=1` for example.
        public internal(set) var target: String
        /// The HTTP version, `HTTP/1.1` for example.
        public internal(set) var version: String
        /// The header fields in the order in which they were sent, with repeats.
        public internal(set) var headers: [Field] = []
        /// The fields after a chunked body.
        public internal(set) var trailers: [Field] = []
        /// The body, with chunks put together.
        ///
        /// Empty on a server with `keepsBodies: false`.
        public internal(set) var body = Data()
        /// The number of bytes in the body, kept or not.
        public internal(set) var bodyLength: Int64 = 0
        /// The connection of the request; the first one accepted is 0.
        public internal(set) var connection = 0
        /// Its position among all requests, which is its index in ``LoopbackServer/requests``.
        public internal(set) var receivedAt = 0

        /// What stands for the placeholders of the route, decoded, by their names; see ``LoopbackServer/routes(_:)``.
        public internal(set) var parameters: [String: String] = [:]

        /// The path, percent-encoded as it was sent; of a target that is a whole URL, that of the URL.
        public var path: String {
            let end = target.utf8.firstIndex(of: UInt8(ascii: "?")) ?? target.endIndex
            let path = target[..<end]
            // What a proxy is sent (RFC 9112 §3.2.2).
            guard let scheme = path.range(of: "://"), path.utf8.first != UInt8(ascii: "/") else { return String(path) }
            return path[scheme.upperBound...].utf8.firstIndex(of: UInt8(ascii: "/")).map { String(path[$0...]) } ?? "/"
        }

        /// The text after the `?`, as it was sent; `nil` if there is no `?`.
        public var query: String? {
            target.utf8.firstIndex(of: UInt8(ascii: "?")).map { String(target[target.utf8.index(after: $0)...]) }
        }

        /// The value of the first header field with this name, ignoring case.
        public subscript(name: String) -> String? {
            for field in headers where field.isNamed(name) { return field.value }
            return nil
        }

        /// The values of all header fields with this name, ignoring case, in order.
        public func values(for name: String) -> [String] {
            headers.filter { $0.isNamed(name) }.map(\.value)
        }

        /// The body as UTF-8.
        public var text: String { String(decoding: body, as: UTF8.self) }

        /// The query's items, decoded as a form: a `+` is a space, as servers read it.
        public var queryItems: [Field] { Self.formItems(query ?? "") }

        /// The body's items, read as `application/x-www-form-urlencoded`.
        public var formItems: [Field] { Self.formItems(text) }

        /// The first value of that name in a form-encoded body.
        public func form(_ name: String) -> String? { formItems.first { $0.name == name }?.value }

        private static func formItems(_ text: String) -> [Field] {
            text.split(separator: "&").map { item in
                let halves = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map { half in
                    let spaced = half.replacingOccurrences(of: "+", with: " ")
                    return spaced.removingPercentEncoding ?? spaced
                }
                return Field(name: halves[0], value: halves.count > 1 ? halves[1] : "")
            }
        }
    }
}

/// Whether two field names are equal, ignoring the case of ASCII letters, without creating new strings.
func isSameName(_ left: String, _ right: String) -> Bool {
    guard left.utf8.count == right.utf8.count else { return false }
    if left == right { return true }
    var others = right.utf8.makeIterator()
    for byte in left.utf8 {
        guard let other = others.next() else { return false }
        let isLetter = byte | 0x20 >= UInt8(ascii: "a") && byte | 0x20 <= UInt8(ascii: "z")
        guard byte == other || (isLetter && byte ^ other == 0x20) else { return false }
    }
    return true
}
