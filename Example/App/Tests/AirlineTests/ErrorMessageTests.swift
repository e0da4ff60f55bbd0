import AtomNetworking
import AtomNetworkingSignIn
import Foundation
import Testing

@testable import Airline

@Suite(.limited) struct ErrorMessageTests {
    @Test func thereIsNothingToSayWhereTheSignInIsShown() {
        let refused = OAuthError(code: "invalid_grant")
        for reason in [
            .refreshRejected(refused, delivery: .notSent), .refreshInterrupted(refused, delivery: .notSent),
            .missingCredential(delivery: .notSent), .signedOut(delivery: .notSent),
            .credentialNotProvided(cause: SignInError.declined, retryAt: nil, delivery: .notSent),
        ] as [AuthenticationError] {
            #expect(ErrorMessage.text(for: .authentication(reason)) == nil)
        }
        #expect(ErrorMessage.text(for: .cancelled(.notSent)) == nil)
    }

    @Test func aSignInThatFailedIsSaidInTheAppsWords() {
        func text(_ cause: any Error) -> String? {
            ErrorMessage.text(
                for: .authentication(.credentialNotProvided(cause: cause, retryAt: nil, delivery: .notSent)))
        }
        #expect(text(SignInError.wrongState) == "You could not be signed in. Please try again.")
        #expect(text(SignInError.differentUser) == "That was somebody else. Sign out first.")
        #expect(text(URLError(.notConnectedToInternet)) == "You seem to be offline. Please try again later.")
        #expect(text(URLError(.timedOut)) == "The sign-in took too long. Please try again.")
        #expect(
            ErrorMessage.text(for: .authentication(.waitedTooLong(delivery: .notSent)))
                == "The sign-in took too long. Please try again.")
    }
}
