/// The keys of an AWS identity.
public struct AWSCredentials: Sendable {
    /// Names the identity; it is sent.
    public var accessKeyID: String

    /// The secret; it is never sent.
    public var secretAccessKey: String

    /// The token of temporary credentials; `nil` for those that last.
    public var sessionToken: String?

    /// Creates credentials from their parts.
    public init(accessKeyID: String, secretAccessKey: String, sessionToken: String? = nil) {
        self.accessKeyID = accessKeyID
        self.secretAccessKey = secretAccessKey
        self.sessionToken = sessionToken
    }
}

extension AWSCredentials: CustomStringConvertible, CustomReflectable {
    /// Shows the key's name alone.
    public var description: String { "AWSCredentials(\(accessKeyID))" }

    /// Limits `dump` to the content of ``description``.
    public var customMirror: Mirror { Mirror(self, children: ["accessKeyID": accessKeyID]) }
}
