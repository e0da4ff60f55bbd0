import AtomNetworking
import Foundation

/// The files of the session of `atom login`: the tokens, in a store that any
/// number of processes may use at once, and next to it the profile that they
/// belong to.
struct SessionFile: Sendable, Hashable {
    let url: URL

    init(url: URL) {
        self.url = url
    }

    /// The file at a path, or the default one.
    init(path: String?, environment: [String: String] = ProcessInfo.processInfo.environment) {
        url = path.map { URL(fileURLWithPath: $0) } ?? Self.usual(environment)
    }

    /// The default location: state that need not be in a backup.
    static func usual(_ environment: [String: String]) -> URL {
        #if canImport(Darwin)
            let folder = URL.applicationSupportDirectory
        #else
            // The XDG specification says to ignore relative paths.
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

    // MARK: The profile

    /// The server and the user that the tokens belong to; it contains no
    /// secret.
    struct Profile: Codable, Sendable, Hashable {
        let server: String
        let clientID: String

        /// The airline at this server.
        func airline() throws(AtomError) -> Airline {
            try Airline(url: server)
        }
    }

    private var profileURL: URL { url.appendingPathExtension("profile") }

    /// The profile that ``save(_:)`` has written; `nil` if it can't be read,
    /// and then the tokens aren't used.
    func profile() -> Profile? {
        guard let data = try? Data(contentsOf: profileURL) else { return nil }
        return try? JSONDecoder().decode(Profile.self, from: data)
    }

    /// Stores the profile of the next tokens; the folder must exist.
    func save(_ profile: Profile) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        try encoder.encode(profile).write(to: profileURL, options: .atomic)
    }

    // MARK: The session

    /// A service that signs with the tokens in this file.
    func atom(
        for profile: Profile, timeout: ServiceTimeout = ServiceTimeout(),
        _ change: (inout ServiceConfiguration) -> Void = { _ in }
    ) throws(AtomError) -> Atom {
        let airline = try profile.airline()
        var bearer = BearerAuthentication(
            endpoint: try airline.authorizationEndpoint(), client: ClientCredential(id: profile.clientID),
            store: store())
        bearer.revocationEndpoint = try airline.revocationEndpoint()
        var configuration = ServiceConfiguration(
            authenticationMethod: .bearer(bearer), decoder: Airline.decoder, timeout: timeout)
        change(&configuration)
        return Atom(serviceConfiguration: configuration)
    }
}
