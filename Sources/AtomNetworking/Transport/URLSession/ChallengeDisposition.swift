import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Who answers the challenges of a session.
enum ChallengeDisposition: Sendable {
    /// The system evaluates trust; without a stored credential a 401 is
    /// returned unchanged.
    case system
    #if !canImport(FoundationNetworking)
        /// The app answers those of the connection.
        case app(
            @Sendable (URLAuthenticationChallenge) async -> (URLSession.AuthChallengeDisposition, URLCredential?))

        /// Calls the handler once, on any thread.
        func answer(
            _ challenge: URLAuthenticationChallenge,
            _ handler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
        ) {
            let space = challenge.protectionSpace
            guard case .app(let answer) = self,
                Self.isOfConnection(space.authenticationMethod, isProxy: space.isProxy())
            else { return handler(.performDefaultHandling, nil) }
            Task(priority: .userInitiated) {
                let (disposition, credential) = await answer(challenge)
                handler(disposition, credential)
            }
        }
    #endif

    /// Whether a challenge is about the connection, not about one request.
    ///
    /// URLSession would send the request again if a request's challenge were
    /// answered: with a second `Authorization`, and without the SDK's knowledge.
    static func isOfConnection(_ method: String, isProxy: Bool) -> Bool {
        isProxy
            || ![
                NSURLAuthenticationMethodDefault, NSURLAuthenticationMethodHTTPBasic,
                NSURLAuthenticationMethodHTTPDigest, NSURLAuthenticationMethodHTMLForm,
                NSURLAuthenticationMethodNTLM, NSURLAuthenticationMethodNegotiate,
            ].contains(method)
    }
}
