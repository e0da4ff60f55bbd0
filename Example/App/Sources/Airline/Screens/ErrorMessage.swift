import AtomNetworking

/// What a screen says of an error.
enum ErrorMessage {
    /// - Returns: `nil` if there is nothing to say: the user has cancelled, or the sign-in is shown instead.
    static func text(for error: AtomError) -> String? {
        switch error {
        case .cancelled: nil
        case .authentication(.refreshRejected), .authentication(.refreshInterrupted),
            .authentication(.missingCredential), .authentication(.signedOut):
            nil
        // The login was closed.
        case .authentication(.credentialNotProvided(cause: is CancellationError, _, _)): nil
        case _ where error.isConnectivityFailure: "You seem to be offline. Please try again later."
        case .authentication(.credentialNotProvided): "You could not be signed in. Please try again."
        case .authentication(.waitedTooLong): "The sign-in took too long. Please try again."
        // A file that was chosen has gone.
        case .requestable(.invalidBody(let violation)): "“\(violation.subject)” can't be sent."
        default: error.localizedDescription
        }
    }

    /// What a sign-in says when a password was sent and no tokens came back.
    static func text(forSignIn error: AtomError) -> String? {
        if let problem = try? error.decodeIfPresent(as: OAuthError.self), problem.code == "invalid_grant" {
            "The user name or the password is wrong."
        } else {
            text(for: error)
        }
    }
}
