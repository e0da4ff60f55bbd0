import AtomNetworking
import Foundation

/// A sign-in on another device that has begun (RFC 8628 §3.2): what the person has to know.
public struct DeviceAuthorization: Sendable {
    /// The code that the person enters at ``verificationURL``.
    public let userCode: String
    /// The page to open on another device.
    public let verificationURL: URL
    /// The same with the code in it, for a QR code; `nil` if the server has none.
    public let completeVerificationURL: URL?
    /// When the code expires, by the device's clock.
    public let expiresAt: Date

    /// Never shown (RFC 8628 §5.2).
    let deviceCode: String
    /// How long the token endpoint is left alone between two requests.
    let interval: Duration
    let expiry: MonotonicInstant
    let scopes: [String]

    /// Reads the response of the device authorization endpoint.
    ///
    /// - Parameters:
    ///   - scopes: What was asked for.
    ///   - instant: When the request was sent, from which on the lifetime counts.
    ///   - date: The same by the device's clock.
    init(
        _ response: AtomResponse, scopes: [String], sentAt instant: MonotonicInstant, _ date: Date
    ) throws(AtomError) {
        guard let members = (try? JSONSerialization.jsonObject(with: response.data)) as? [String: Any] else {
            throw Self.refusal("isn't a JSON object")
        }
        func text(_ name: String, or other: String? = nil) throws(AtomError) -> String {
            let text = members[name] as? String ?? other.flatMap { members[$0] as? String } ?? ""
            guard !text.isEmpty else { throw Self.refusal("has no \(name)") }
            return text
        }
        deviceCode = try text("device_code")
        userCode = try text("user_code")
        // The second is Google's name, of an early draft.
        verificationURL = try Self.page(try text("verification_uri", or: "verification_url"))
        let complete = members["verification_uri_complete"] as? String
        completeVerificationURL = try complete.map { text throws(AtomError) in try Self.page(text) }
        guard let lifetime = Self.seconds(members["expires_in"]) else { throw Self.refusal("has no expires_in") }
        // A year is more than anybody waits, and no number leads to a time that can't be counted.
        let bounded = min(max(lifetime, 0), 31_536_000)
        expiresAt = date.addingTimeInterval(bounded)
        expiry = instant.advanced(by: .seconds(bounded))
        interval = .seconds(min(max(Self.seconds(members["interval"]) ?? 5, 1), 31_536_000))
        self.scopes = scopes
    }

    /// An address for a person to open: by TLS, or on this device.
    private static func page(_ text: String) throws(AtomError) -> URL {
        guard let url = URL(string: text),
            (try? AuthorizationEndpoint(String(text.prefix { $0 != "#" })))?.target.isSecure == true
        else { throw refusal("has a verification URI that isn't an https URL") }
        return url
    }

    /// A number, which some servers send as a string.
    private static func seconds(_ value: Any?) -> Double? {
        let number = (value as? NSNumber)?.doubleValue ?? (value as? String).flatMap { Double($0) }
        return number.flatMap { $0.isFinite ? $0 : nil }
    }

    private static func refusal(_ what: String) -> AtomError {
        .signIn(.invalidTokenResponse("that of the device authorization endpoint \(what)"), delivery: .answered)
    }
}

extension DeviceAuthorization: Redacted {}
