import Foundation

/// A user name and password for Basic authentication (RFC 7617).
public struct BasicCredential: Sendable, Hashable {
    /// The password.
    public let password: String

    /// The user name, which contains no colon.
    public let username: String

    /// Where the credential may be sent; by default anywhere over HTTPS, and over plain HTTP only on this device.
    public var allowedOrigins: AllowedOrigins = .secure

    /// Creates a credential.
    ///
    /// A request fails when it is resumed if the user name contains a colon, if either part contains control
    /// characters, or if both together are too long for a header field.
    public init(password: String, username: String) {
        self.password = password
        self.username = username
    }

    /// The value of the `Authorization` field.
    ///
    /// - Throws: ``RequestableError/invalidCredential(_:)``.
    func authorization() throws(AtomError) -> String {
        guard !username.utf8.contains(UInt8(ascii: ":")) else {
            throw .refused(
                RequestableError.invalidCredential, "user name", because: "it can't contain a colon (RFC 7617 §2)")
        }
        for (name, text) in [("user name", username), ("password", password)]
        where text.unicodeScalars.contains(where: { $0.value < 0x20 || $0.value == 0x7F }) {
            throw .refused(
                RequestableError.invalidCredential, name, because: "it can't contain control characters (RFC 7617 §2)")
        }
        let value = "Basic " + Data("\(username):\(password)".utf8).base64EncodedString()
        guard value.utf8.count <= HTTPGrammar.longestFieldValue else {
            throw .refused(
                RequestableError.invalidCredential, "user name and password",
                because: "together they are too long for a header field")
        }
        return value
    }
}

extension BasicCredential: Redacted {
    /// Shows neither part.
    public var description: String { "BasicCredential(…)" }
}

/// A type that can be converted to a Basic credential.
public protocol BasicCredentialConvertible: Sendable {
    /// The credential.
    var basicCredential: BasicCredential { get }
}
