import AirlineServer
import AtomNetworking
import AtomNetworkingSignIn
import Foundation

/// The files of the session of `atom login`: the tokens, in a store that any number of processes may use at once, and
/// next to it the profile that they belong to.
struct SessionFile: Sendable {
    let url: URL

    /// The default location: state that need not be in a backup.
    static var usual: URL {
        #if canImport(Darwin)
            let folder = URL.applicationSupportDirectory
        #else
            // The XDG specification says to ignore relative paths.
            let environment = ProcessInfo.processInfo.environment
            let state = environment["XDG_STATE_HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil }
            let home = environment["HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil } ?? NSHomeDirectory()
            let folder = URL(fileURLWithPath: state ?? home + "/.local/state")
        #endif
        return folder.appendingPathComponent("atom").appendingPathComponent("session.json")
    }

    /// The store of the tokens.
    func store() -> FileTokenCredentialStore {
        FileTokenCredentialStore(fileURL: url)
    }

    /// The file of the key that tokens are bound to.
    var keyURL: URL { url.appendingPathExtension("key") }

    /// The file that a process locks which signs in on a page: one for each server and client, since those who have
    /// waited for it use the same tokens.
    func signInLock(of profile: Profile) -> URL {
        let party = "\(profile.server) \(profile.clientID)"
        let name = party.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
        return url.appendingPathExtension("\(name).sign-in")
    }

    /// The server and the user that the tokens belong to; it contains no secret.
    struct Profile: Codable, Sendable, Equatable {
        let server: String
        let clientID: String
        /// The file of the key that the tokens are bound to; `nil` for none.
        var keyPath: String?

        /// The airline at this server.
        func airline() throws(AtomError) -> Airline {
            try Airline(url: server)
        }

        /// Proves that this device has the key of the tokens.
        func proof() throws(AtomError) -> DPoP? {
            guard let keyPath else { return nil }
            let key: FileKey
            do {
                key = try FileKey(URL(fileURLWithPath: keyPath))
            } catch {
                throw .authentication(.credentialNotReadable(cause: error, delivery: .notSent))
            }
            return try DPoP(key: key)
        }

        /// A service that signs with the tokens in a store.
        func atom(
            _ store: any TokenCredentialStore, timeout: ServiceTimeout = ServiceTimeout(),
            _ change: (inout ServiceConfiguration) -> Void = { _ in }
        ) throws(AtomError) -> Atom {
            let airline = try airline()
            var bearer = BearerAuthentication(
                endpoint: try airline.authorizationEndpoint(), client: ClientCredential(id: clientID), store: store)
            bearer.revocationEndpoint = try airline.authorizationEndpoint(AirlineServer.revocationPath)
            bearer.proof = try proof()
            var configuration = ServiceConfiguration(
                authenticationMethod: .bearer(bearer), decoder: Airline.decoder, timeout: timeout)
            change(&configuration)
            return Atom(serviceConfiguration: configuration)
        }
    }

    private var profileURL: URL { url.appendingPathExtension("profile") }

    /// The profile that ``save(_:)`` has written; `nil` if it can't be read, and then the tokens aren't used.
    func profile() -> Profile? {
        guard let data = try? Data(contentsOf: profileURL) else { return nil }
        return try? JSONDecoder().decode(Profile.self, from: data)
    }

    /// The profile of whoever is signed in.
    func profileOfUser() throws(AtomError) -> Profile {
        guard let profile = profile() else { throw .authentication(.missingCredential(delivery: .notSent)) }
        return profile
    }

    /// Stores the profile of the next tokens; the folder must exist.
    func save(_ profile: Profile) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        try encoder.encode(profile).write(to: profileURL, options: .atomic)
    }
}
