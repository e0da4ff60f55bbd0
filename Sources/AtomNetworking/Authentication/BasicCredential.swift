import Foundation

/// A user name and password for Basic authentication (RFC 7617).
public struct BasicCredential: Sendable, Hashable {
    /// The password.
    public let password: String

    /// The user name, which holds no colon.
    public let username: String

    /// Makes a credential; a user name with a colon and control characters in
    /// either part are refused when a request is resumed.
    public init(password: String, username: String) {
        self.password = password
        self.username = username
    }

    /// The value of the `Authorization` field.
    ///
    /// - Throws: ``RequestableError/invalidCredential(_:)``.
    func authorization() throws(AtomError) -> String {
        guard !username.utf8.contains(UInt8(ascii: ":")) else {
            throw .requestable(
                .invalidCredential(.init(subject: "user name", reason: "it can't contain a colon (RFC 7617 §2)")))
        }
        for (name, text) in [("user name", username), ("password", password)]
        where text.unicodeScalars.contains(where: { $0.value < 0x20 || $0.value == 0x7F }) {
            throw .requestable(
                .invalidCredential(.init(subject: name, reason: "it can't contain control characters (RFC 7617 §2)")))
        }
        return "Basic " + Data("\(username):\(password)".utf8).base64EncodedString()
    }
}

extension BasicCredential: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Neither part.
    public var description: String { "BasicCredential(…)" }
    /// The same as ``description``.
    public var debugDescription: String { description }
    /// Keeps `dump` from showing either part.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}

/// Something that a Basic credential can be made of.
public protocol BasicCredentialConvertible: Sendable {
    /// The credential.
    var basicCredential: BasicCredential { get }
}
