import Crypto
import Foundation

/// The sign-ins that have begun: pushed requests, pages, codes, and devices that wait.
///
/// A pure value, as ``TokenLedger`` is.
struct AuthorizationLedger {
    private struct Timed<Value> {
        let value: Value
        let expiresAt: TimeInterval
    }

    private struct Code {
        let request: AuthorizationRequest
        let user: String
        /// The session that it was exchanged for.
        var session: Int?
    }

    /// A device that waits for its user (RFC 8628 §3.2).
    private struct Device {
        let client: RegisteredClient
        let scopes: Set<Scope>
        let userCode: String
        var interval: Double
        var askedAt: TimeInterval?
        /// `nil` as long as nobody has decided.
        var decision: Decision?
    }

    private enum Decision {
        case granted(user: String)
        case refused
    }

    /// How long a pushed request and a code live, and how long a page and a device.
    static let (codeLifetime, pageLifetime) = (60.0, 600.0)

    private var pushed: [String: Timed<AuthorizationRequest>] = [:]
    private var pages: [String: Timed<AuthorizationRequest>] = [:]
    private var codes: [String: Timed<Code>] = [:]
    private var devices: [String: Timed<Device>] = [:]

    // MARK: Pages

    /// Keeps a request until a browser comes with its URI (RFC 9126 §2.2).
    mutating func push(_ request: AuthorizationRequest, now: TimeInterval) -> String {
        let uri = "urn:ietf:params:oauth:request_uri:\(UUID().uuidString)"
        pushed[uri] = Timed(value: request, expiresAt: now + Self.codeLifetime)
        return uri
    }

    /// The request of a URI, once.
    mutating func takePushed(_ uri: String, clientID: String?, now: TimeInterval) -> AuthorizationRequest? {
        guard let known = pushed[uri], known.value.client.id == clientID else { return nil }
        pushed[uri] = nil
        return now < known.expiresAt ? known.value : nil
    }

    /// Opens a page.
    ///
    /// - Returns: What its form sends. Nobody else knows it, so another site's form can't end the sign-in.
    mutating func openPage(for request: AuthorizationRequest, now: TimeInterval) -> String {
        let page = UUID().uuidString
        pages[page] = Timed(value: request, expiresAt: now + Self.pageLifetime)
        return page
    }

    /// The request of a page.
    func request(of page: String, now: TimeInterval) -> AuthorizationRequest? {
        pages[page].flatMap { now < $0.expiresAt ? $0.value : nil }
    }

    /// Ends a page; with a user there is a code (RFC 6749 §4.1.2).
    mutating func closePage(_ page: String, user: String? = nil, now: TimeInterval) -> String? {
        guard let request = pages.removeValue(forKey: page)?.value, let user else { return nil }
        let code = "code-\(UUID().uuidString)"
        codes[code] = Timed(value: Code(request: request, user: user), expiresAt: now + Self.codeLifetime)
        return code
    }

    // MARK: Codes

    /// The session that a code was exchanged for, which ends if the code comes again (RFC 6749 §4.1.2).
    func session(ofUsed code: String) -> Int? { codes[code]?.value.session }

    /// Checks a code (RFC 6749 §4.1.3, RFC 7636 §4.6, RFC 9449 §10).
    func request(
        of code: String, clientID: String, redirectURI: String?, verifier: String?, keyThumbprint: String?,
        now: TimeInterval
    ) throws(OAuthRefusal) -> (request: AuthorizationRequest, user: String) {
        guard let known = codes[code], known.value.request.client.id == clientID, now < known.expiresAt,
            known.value.session == nil
        else { throw OAuthRefusal("invalid_grant", "The code is unknown, used, or too old.") }
        let request = known.value.request
        guard redirectURI == request.redirectURI else {
            throw OAuthRefusal("invalid_grant", "The redirect_uri isn't that of the code.")
        }
        guard let verifier, (43...128).contains(verifier.utf8.count),
            Data(SHA256.hash(data: Data(verifier.utf8))).base64URL == request.codeChallenge
        else { throw OAuthRefusal("invalid_grant", "The code_verifier isn't that of the code.") }
        guard request.keyThumbprint == nil || request.keyThumbprint == keyThumbprint else {
            throw OAuthRefusal("invalid_grant", "The key isn't that of the code.")
        }
        return (request, known.value.user)
    }

    /// Notes what a code was exchanged for.
    mutating func use(_ code: String, for session: Int) {
        guard let known = codes[code] else { return }
        let used = Code(request: known.value.request, user: known.value.user, session: session)
        codes[code] = Timed(value: used, expiresAt: known.expiresAt)
    }

    // MARK: Devices

    /// Begins a sign-in on another device (RFC 8628 §3.2).
    mutating func addDevice(
        of client: RegisteredClient, scopes: Set<Scope>, interval: Int, now: TimeInterval
    ) -> (deviceCode: String, userCode: String) {
        // Letters that make no words, and aren't taken for others (RFC 8628 §6.1).
        let letters = Array("BCDFGHJKLMNPQRSTVWXZ")
        let userCode = String((0..<8).compactMap { _ in letters.randomElement() })
        let deviceCode = "device-\(UUID().uuidString)"
        devices[deviceCode] = Timed(
            value: Device(client: client, scopes: scopes, userCode: userCode, interval: Double(interval)),
            expiresAt: now + Self.pageLifetime)
        return (deviceCode, userCode.prefix(4) + "-" + userCode.suffix(4))
    }

    /// What the device with this user code asks for, as long as nobody has decided.
    func device(userCode: String, now: TimeInterval) -> (client: RegisteredClient, scopes: Set<Scope>)? {
        deviceCode(of: userCode, now).flatMap { devices[$0]?.value }.map { ($0.client, $0.scopes) }
    }

    /// Lets a user in, or nobody.
    mutating func decide(userCode: String, user: String?, now: TimeInterval) {
        guard let code = deviceCode(of: userCode, now), let known = devices[code] else { return }
        var device = known.value
        device.decision = user.map { .granted(user: $0) } ?? .refused
        devices[code] = Timed(value: device, expiresAt: known.expiresAt)
    }

    private func deviceCode(of userCode: String, _ now: TimeInterval) -> String? {
        let code = userCode.uppercased().filter(\.isLetter)
        return devices.first {
            $0.value.value.userCode == code && now < $0.value.expiresAt && $0.value.value.decision == nil
        }?.key
    }

    /// Who has signed in for a device, once (RFC 8628 §3.5).
    mutating func takeDecision(
        _ deviceCode: String, clientID: String, now: TimeInterval
    ) throws(OAuthRefusal) -> (user: String, scopes: Set<Scope>) {
        guard let known = devices[deviceCode], known.value.client.id == clientID else {
            throw OAuthRefusal("invalid_grant", "The device code is unknown or used.")
        }
        guard now < known.expiresAt else { throw OAuthRefusal("expired_token", "The code has expired.") }
        var device = known.value
        if let decision = device.decision {
            devices[deviceCode] = nil
            guard case .granted(let user) = decision else {
                throw OAuthRefusal("access_denied", "The user has refused.")
            }
            return (user, device.scopes)
        }
        // A question may be faster on its way than the one before.
        let isTooSoon = device.askedAt.map { now - $0 < device.interval * 0.8 } ?? false
        device.askedAt = now
        if isTooSoon { device.interval += 5 }
        devices[deviceCode] = Timed(value: device, expiresAt: known.expiresAt)
        throw isTooSoon
            ? OAuthRefusal("slow_down", "The device must wait for \(device.interval) seconds.")
            : OAuthRefusal("authorization_pending", "Nobody has signed in yet.")
    }
}
