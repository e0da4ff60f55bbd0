import AtomNetworking
import Foundation

/// Where the server sends the browser after a sign-in (RFC 6749 §3.1.2), as it is compared: without query and fragment.
struct RedirectURI: Equatable {
    private let scheme: String
    private let authority: String
    private let path: String

    /// Reads an address octet by octet: Foundation takes a port that is too large for none.
    ///
    /// Browsers leave out a scheme's own port, write the host in lower case, and add the slash of an empty path.
    init(of address: String) {
        let text = address.utf8.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
        let colon = text.firstIndex(of: UInt8(ascii: ":")) ?? text.endIndex
        var rest = text[colon...].dropFirst()
        let scheme = String(decoding: text[..<colon], as: UTF8.self).lowercased()
        var authority = ""
        if rest.starts(with: "//".utf8) {
            let end = rest.dropFirst(2).firstIndex(of: UInt8(ascii: "/")) ?? rest.endIndex
            authority = String(decoding: rest[..<end].dropFirst(2), as: UTF8.self).lowercased()
            rest = rest[end...]
        }
        if let port = ["http": ":80", "https": ":443"][scheme] {
            if authority.hasSuffix(port) { authority.removeLast(port.count) }
            if rest.isEmpty { rest = "/".utf8[...] }
        }
        (self.scheme, self.authority, path) = (scheme, authority, String(decoding: rest, as: UTF8.self))
    }

    /// Checks a redirect URI by the rules for apps (RFC 8252 §7, §8.4).
    ///
    /// - Throws: `AtomError.requestable`, which says which rule it breaks.
    static func check(_ text: String) throws(AtomError) {
        func refusal(_ reason: String) -> AtomError {
            .requestable(.invalidURL(.init(subject: text, reason: reason)))
        }
        guard !text.utf8.contains(UInt8(ascii: "#")) else {
            throw refusal("a redirect URI has no fragment (RFC 6749 §3.1.2)")
        }
        // Foundation would write another one in the callback.
        guard let url = URL(string: text), url.absoluteString == text else {
            throw refusal("a redirect URI contains only what a URI can have; percent-encode the rest (RFC 3986 §2)")
        }
        guard let scheme = url.scheme?.lowercased() else {
            throw refusal("a redirect URI is absolute, as https://app.example.com/callback (RFC 6749 §3.1.2)")
        }
        switch scheme {
        case "http", "https":
            guard try AuthorizationEndpoint(text).target.isSecure else {
                throw refusal("plain HTTP is only for this device, as http://127.0.0.1/callback (RFC 8252 §7.3)")
            }
        default:
            guard scheme.contains(".") else {
                throw refusal(
                    "a scheme of an app's own is a domain name in reverse order, and so has a dot, as "
                        + "com.example.app:/callback (RFC 8252 §7.1)")
            }
        }
    }
}
