import AtomNetworking
import AtomNetworkingSignIn
import Foundation

/// What a screen says of an error.
enum ErrorMessage {
    /// - Returns: `nil` if there is nothing to say: the user has cancelled, or the sign-in is shown instead.
    static func text(for error: AtomError) -> String? {
        switch error {
        case .cancelled: nil
        case .authentication(.refreshRejected), .authentication(.refreshInterrupted),
            .authentication(.missingCredential), .authentication(.signedOut):
            nil
        // The person has closed the page.
        case _ where error.signInError == .declined: nil
        case _ where error.signInError == .differentUser: "That was somebody else. Sign out first."
        case .authentication(.credentialNotProvided(cause: URLError.timedOut, _, _)), .authentication(.waitedTooLong):
            "The sign-in took too long. Please try again."
        case _ where error.isConnectivityFailure: "You seem to be offline. Please try again later."
        case .authentication(.credentialNotProvided): "You could not be signed in. Please try again."
        // A file that was chosen has gone.
        case .requestable(.invalidBody(let violation)): "“\(violation.subject)” can't be sent."
        default: error.localizedDescription
        }
    }
}
