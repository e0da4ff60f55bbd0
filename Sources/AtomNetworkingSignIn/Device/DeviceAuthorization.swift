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
    let interval: Duration
    let expiry: MonotonicInstant
    let scopes: [String]
}

extension DeviceAuthorization: Redacted {}
