import AirlineServer
import ArgumentParser
import AtomNetworking

/// A user name and a password, written `name:secret`.
struct NameAndSecret: Sendable, Equatable {
    let name: String
    let secret: String

    /// A user of the embedded server.
    static let exampleUser = NameAndSecret(name: "ada", secret: "lovelace")
}

extension NameAndSecret: ExpressibleByArgument {
    /// The name ends at the first colon (RFC 7617 §2).
    init?(argument: String) {
        guard let colon = argument.firstIndex(of: ":") else { return nil }
        self.init(name: String(argument[..<colon]), secret: String(argument[argument.index(after: colon)...]))
    }

    var defaultValueDescription: String { "\(name):\(secret)" }
}

extension ClientCredential {
    /// An application that the embedded server knows.
    static var example: ClientCredential {
        ClientCredential(
            id: RegisteredClient.confidentialExample.id, secret: RegisteredClient.confidentialExample.secret)
    }
}
