import ArgumentParser

/// A name and its password or secret, written `name:secret`.
struct NameAndSecret: Sendable, Hashable, ExpressibleByArgument {
    let name: String
    let secret: String

    init(name: String, secret: String) {
        self.name = name
        self.secret = secret
    }

    /// The name ends at the first colon (RFC 7617 §2).
    init?(argument: String) {
        guard let colon = argument.firstIndex(of: ":") else { return nil }
        self.init(name: String(argument[..<colon]), secret: String(argument[argument.index(after: colon)...]))
    }

    var defaultValueDescription: String { "\(name):\(secret)" }

    /// A user of the embedded server.
    static let exampleUser = NameAndSecret(name: "ada", secret: "lovelace")

    /// An application that the embedded server knows.
    static let exampleClient = NameAndSecret(name: "atom-example", secret: "example-secret")
}
