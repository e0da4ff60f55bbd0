#if canImport(SwiftUI)
    import Airline
    import AirlineServer
    import AtomNetworking
    import AtomNetworkingSignIn
    import Observation

    /// Starts the airline's server, which a real app would reach over HTTPS.
    ///
    /// Like every view, this hasn't been run: see the README.
    @Observable
    final class Demonstration {
        private(set) var account: Account?
        private(set) var failure: String?
        private(set) var server: AirlineServer?

        func start() async {
            guard server == nil else { return }
            do {
                let server = try await AirlineServer.start()
                let base = try BaseURL(scheme: .http, host: server.host, port: Int(server.port))
                // The server forgets its sessions when the app ends. An app for a real one keeps its tokens in a
                // KeychainTokenCredentialStore.
                account = Account(
                    AirlineService(
                        base: base, client: try .airline(at: base),
                        browser: WebAuthenticationBrowser(redirectURI: AirlineService.redirectURI),
                        store: InMemoryTokenCredentialStore()))
                self.server = server
            } catch {
                failure = "The airline's server could not be started: \(error.localizedDescription)"
            }
        }
    }
#endif
