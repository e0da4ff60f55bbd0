#if canImport(AuthenticationServices)
    import AtomNetworking
    import AuthenticationServices

    /// The system's page for sign-ins, over the app: Apple's `ASWebAuthenticationSession` (RFC 8252 §B.1).
    ///
    /// Its task can be cancelled, which closes the page and throws `CancellationError`.
    public struct WebAuthenticationBrowser: AuthorizationBrowser {
        /// Where the server sends the browser afterwards, as it is registered there.
        public let redirectURI: String
        /// Whether the page knows nothing of the person's earlier sign-ins, and leaves no cookies; `false` by default.
        public var prefersEphemeralSession = false

        #if os(iOS) || os(macOS) || os(visionOS)
            /// The window over which the page is shown; `nil`, the default, for a new one.
            ///
            /// An app with several windows names the one from which the person signs in.
            public var presentationAnchor: (@MainActor @Sendable () -> ASPresentationAnchor)?
        #endif

        /// Creates a browser.
        ///
        /// - Parameter redirectURI: Either one with a scheme of the app's own, such as `com.example.app:/callback`
        ///   (RFC 8252 §7.1), or an `https` URL of a domain that is associated with the app (§7.2). The latter needs
        ///   iOS 17.4, macOS 14.4, tvOS 17.4, watchOS 10.4 or visionOS 1.1.
        public init(redirectURI: String) {
            self.redirectURI = redirectURI
        }

        /// Shows the page, and returns the URL that the server has sent the browser to.
        public func authorize(_ page: @escaping Page) async throws -> URL {
            guard let redirect = URLComponents(string: redirectURI), let scheme = redirect.scheme?.lowercased(),
                scheme != "http"
            else {
                throw SignInError.browserFailed("the redirect URI needs https, or a scheme of the app's own")
            }
            return try await callback(of: page(redirectURI), scheme: scheme, to: redirect)
        }

        @MainActor
        private func callback(of page: URL, scheme: String, to redirect: URLComponents) async throws -> URL {
            try Task.checkCancellation()
            // The system may call back on any thread, twice, or never after `cancel()`: the stream takes one result.
            let (results, first) = AsyncStream.makeStream(
                of: Result<URL, SignInError>.self, bufferingPolicy: .bufferingOldest(1))
            let session = try Self.session(for: page, scheme: scheme, to: redirect) { @Sendable url, error in
                first.yield(url.map { .success($0) } ?? .failure(Self.failure(error)))
            }
            session.prefersEphemeralWebBrowserSession = prefersEphemeralSession
            #if os(iOS) || os(macOS) || os(visionOS)
                // The session doesn't retain it.
                let presentation = Presentation(anchor: presentationAnchor?() ?? ASPresentationAnchor())
                session.presentationContextProvider = presentation
                defer { withExtendedLifetime(presentation) {} }
            #endif
            guard session.start() else { throw SignInError.browserFailed("the system shows no page at the moment") }
            defer { withExtendedLifetime(session) {} }
            for await result in results { return try result.get() }
            // Without a result a stream ends only when its reader is cancelled.
            session.cancel()
            throw CancellationError()
        }

        @MainActor
        private static func session(
            for page: URL, scheme: String, to redirect: URLComponents,
            completion: @escaping @Sendable (URL?, (any Error)?) -> Void
        ) throws(SignInError) -> ASWebAuthenticationSession {
            guard scheme == "https" else {
                return ASWebAuthenticationSession(
                    url: page, callbackURLScheme: scheme, completionHandler: completion)
            }
            guard #available(iOS 17.4, macOS 14.4, tvOS 17.4, watchOS 10.4, visionOS 1.1, *) else {
                throw .browserFailed("this version of the system takes no https redirect URI")
            }
            guard let host = redirect.host, !host.isEmpty else {
                throw .browserFailed("the redirect URI has no host")
            }
            return ASWebAuthenticationSession(
                url: page, callback: .https(host: host, path: redirect.path.isEmpty ? "/" : redirect.path),
                completionHandler: completion)
        }

        private static func failure(_ error: (any Error)?) -> SignInError {
            guard let error else { return .browserFailed("the system returned no callback") }
            if (error as? ASWebAuthenticationSessionError)?.code == .canceledLogin { return .declined }
            let code = error as NSError
            return .browserFailed("error \(code.code) of \(code.domain)")
        }
    }

    #if os(iOS) || os(macOS) || os(visionOS)
        private final class Presentation: NSObject, ASWebAuthenticationPresentationContextProviding {
            private let anchor: ASPresentationAnchor

            init(anchor: ASPresentationAnchor) { self.anchor = anchor }

            // The system asks on the main thread, whether or not its declaration says so.
            nonisolated func presentationAnchor(for session: ASWebAuthenticationSession) -> ASPresentationAnchor {
                MainActor.assumeIsolated { anchor }
            }
        }
    #endif
#endif
