import AtomNetworking
import Foundation

/// Where the session of `atom login` is kept: the tokens in a store that any
/// number of processes may use at once, and beside it whose they are.
struct SessionFile: Sendable, Hashable {
    let url: URL

    init(url: URL) {
        self.url = url
    }

    /// The file at a path, or the usual one.
    init(path: String?, environment: [String: String] = ProcessInfo.processInfo.environment) {
        url = path.map { URL(fileURLWithPath: $0) } ?? Self.usual(environment)
    }

    /// The usual place: state that a user wouldn't miss in a backup.
    static func usual(_ environment: [String: String]) -> URL {
        #if canImport(Darwin)
            let folder = URL.applicationSupportDirectory
        #else
            // The XDG specification has relative paths ignored.
            let state = environment["XDG_STATE_HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil }
            let home = environment["HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil } ?? NSHomeDirectory()
            let folder = URL(fileURLWithPath: state ?? home + "/.local/state")
        #endif
        return folder.appendingPathComponent("atom").appendingPathComponent("session.json")
    }

    /// The tokens.
    func store() -> FileTokenCredentialStore {
        FileTokenCredentialStore(fileURL: url)
    }

    /// Waits for a refresh that this process has begun and nobody waits for
    /// any more: a process that ended before it is stored would take the
    /// session along.
    func settle(after error: AtomError) async {
        switch error {
        case .cancelled, .authentication(.waitedTooLong): break
        default: return
        }
        // In line behind the refresh. A task of its own: the one that was cancelled would not wait.
        await Task { _ = try? await store().exchange { $0 } }.value
    }

    // MARK: Whose tokens they are

    /// The server that the tokens are for, and who got them; nothing in it is secret.
    struct Profile: Codable, Sendable, Hashable {
        let server: String
        let clientID: String

        /// The airline there.
        func airline() throws(AtomError) -> Airline {
            try Airline(url: server)
        }
    }

    private var profileURL: URL { url.appendingPathExtension("profile") }

    /// What ``save(_:)`` has written; `nil` if it can't be read, and then the
    /// tokens are for nobody.
    func profile() -> Profile? {
        guard let data = try? Data(contentsOf: profileURL) else { return nil }
        return try? JSONDecoder().decode(Profile.self, from: data)
    }

    /// Notes what the tokens to come are for; the folder must be there.
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
