import Foundation

@testable import AtomNetworking

enum CookieTargets {
    private static let now = Date(timeIntervalSince1970: 1_900_000_000)

    /// Cookies: the URL that sets them, the URL that they are sent to, and `Set-Cookie` lines.
    @Sendable static func cookies(_ input: Input) {
        let texts = input.texts
        guard let setter = TargetURL.resolving(texts[0], against: nil),
            let reader = TargetURL.resolving(input.text(1), against: nil)
        else { return }
        let (address, other) = (setter.cookieAddress, reader.cookieAddress)
        var jar = CookieJar()
        var model: [Cookie] = []
        // What was set with HTTPS stays as it is without.
        let isGuarded = !address.isSecure
        let safe = CookieAddress(host: address.host, path: address.path, isSecure: true)
        let secure =
            isGuarded ? texts.dropFirst(2).lazy.compactMap { Cookie("\($0);Secure", from: safe, at: now) }.first : nil
        if let secure { jar.keep(secure, from: safe, at: now) }
        for line in texts.dropFirst(2).prefix(CookieStore.maximumPerAnswer) {
            guard let cookie = Cookie(line, from: address, at: now) else { continue }
            checkCookie(cookie, address, line)
            jar.keep(cookie, from: address, at: now)
            model.removeAll { $0.isSame(as: cookie) }
            if !cookie.isExpired(at: now) { model.append(cookie) }
        }
        check(jar.count <= CookieStore.maximumPerAnswer + 1, "no more is kept than was set", [jar.count])
        if let secure, !secure.isExpired(at: now) {
            let at = CookieAddress(host: address.host, path: secure.path, isSecure: true)
            let sent = jar.field(for: at, at: now)
            check(sent?.has("\(secure.name)=\(secure.value)") == true, "a secure cookie isn't replaced", [sent])
        }
        let field = jar.field(for: other, at: now)
        if let field {
            check(!field.breaksLine && HTTPGrammar.violation(inFieldValue: field) == nil, "it can be sent", [field])
            check(field.utf8.count <= CookieField.maximumLength, "the field isn't too long", [field.utf8.count])
        }
        // Without a secure cookie that is in the way, exactly those that match are sent.
        guard secure == nil else { return }
        let expected = model.filter { mayGo($0, to: other) }.map { "\($0.name)=\($0.value)" }.sorted()
        guard expected.reduce(0, { $0 + $1.utf8.count + 2 }) <= CookieField.maximumLength else { return }
        let sent = field.map { Array(CookieTargets.pieces($0)) } ?? []
        check(sent.sorted() == expected, "the cookies that match are sent", [sent, expected])
    }

    private static func pieces(_ field: String) -> [String] {
        field.utf8.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false).enumerated().map {
            String(decoding: $0 == 0 ? $1 : $1.dropFirst(), as: UTF8.self)
        }
    }

    private static func checkCookie(_ cookie: Cookie, _ address: CookieAddress, _ line: String) {
        check(!cookie.name.isEmpty && !cookie.name.has("=") && !cookie.name.has(";"), "a name is one", [line])
        check(!cookie.value.has(";"), "a value is one", [line])
        check(!(cookie.name + cookie.value + cookie.domain + cookie.path).breaksLine, "a cookie is a line", [line])
        check(cookie.path.hasPrefix("/"), "a path begins with a slash", [line, cookie.path])
        check(isHost(address.host, in: cookie), "the host may set it", [address.host, line])
        check(cookie.isHostOnly || cookie.domain.has("."), "no top-level domain has cookies", [line])
        check(address.isSecure || !cookie.isSecure, "only HTTPS sets secure cookies", [line])
        let name = cookie.name.lowercased()
        if name.hasPrefix("__secure-") || name.hasPrefix("__host-") { check(cookie.isSecure, "it is secure", [line]) }
        if name.hasPrefix("__host-") { check(cookie.isHostOnly && cookie.path == "/", "it is the host's", [line]) }
        let latest = now.addingTimeInterval(400 * 86_400)
        check(cookie.expires.map { $0 <= latest } ?? true, "no cookie lasts longer than 400 days", [line])
        // A path of the URL may not be one of the attribute.
        guard cookie.path.utf8.count <= 1_024, !cookie.path.has(";") else { return }
        let printed =
            "\(cookie.name)=\(cookie.value);Path=\(cookie.path)" + (cookie.isHostOnly ? "" : ";Domain=\(cookie.domain)")
            + (cookie.isSecure ? ";Secure" : "") + (cookie.isHTTPOnly ? ";HttpOnly" : "")
        let again = Cookie(printed, from: address, at: now)
        check(
            again?.name == cookie.name && again?.value == cookie.value && again?.path == cookie.path
                && again?.domain == cookie.domain && again?.isSecure == cookie.isSecure,
            "a printed cookie is the same", [line, printed])
        check(
            JoinedSetCookies.lines(in: line).joined(separator: ", ") == line, "no part of a joined line is lost", [line]
        )
    }

    // RFC 6265 §5.1.3, §5.1.4 and §5.4, once more.
    private static func isHost(_ host: String, in cookie: Cookie) -> Bool {
        if cookie.isHostOnly || host == cookie.domain { return host == cookie.domain }
        let isAddress = host.hasPrefix("[") || host.split(separator: ".").last.map { Int($0) != nil } ?? true
        return host.hasSuffix("." + cookie.domain) && !isAddress
    }

    private static func mayGo(_ cookie: Cookie, to address: CookieAddress) -> Bool {
        let path = Array(address.path.utf8)
        let folder = Array(cookie.path.utf8)
        let isInside =
            path == folder || path.starts(with: folder + [0x2F]) || folder.last == 0x2F && path.starts(with: folder)
        return isInside && isHost(address.host, in: cookie) && (address.isSecure || !cookie.isSecure)
    }
}
