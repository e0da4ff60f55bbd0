import AtomNetworking

/// What a screen says of an error.
enum ErrorMessage {
    /// - Returns: `nil` if there is nothing to say: the user has cancelled, or
    ///   the sign-in is shown instead.
    static func text(for error: AtomError) -> String? {
        switch error {
        case .cancelled: nil
        case .authentication(.refreshRejected), .authentication(.missingCredential), .authentication(.signedOut): nil
        case _ where error.isConnectivityFailure: "You seem to be offline. Please try again later."
        default: error.localizedDescription
        }
    }
}
