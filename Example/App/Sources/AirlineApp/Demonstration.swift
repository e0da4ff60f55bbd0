#if canImport(SwiftUI)
    import Airline
    import AirlineServer
    import AtomNetworking
    import Observation

    /// Starts the airline's server, which a real app would reach over HTTPS.
    ///
    /// Like every view, this hasn't been run: see the README.
    @Observable
    final class Demonstration {
        private(set) var account: Account?
        private(set) var prompt: LoginPrompt?
        private(set) var failure: String?
        private(set) var server: AirlineServer?

        func start() async {
            guard server == nil else { return }
            do {
                let server = try await AirlineServer.start()
                let base = try BaseURL(scheme: .http, host: server.host, port: Int(server.port))
                // The server forgets its sessions when the app ends. An app for a real one keeps its tokens in a
                // KeychainTokenCredentialStore.
                let prompt = LoginPrompt(base: base)
                let service = try AirlineService(base: base, store: InMemoryTokenCredentialStore(), signIn: prompt)
                self.server = server
                self.prompt = prompt
                account = Account(service)
            } catch {
                failure = "The airline's server could not be started: \(error.localizedDescription)"
            }
        }
    }
#endif
