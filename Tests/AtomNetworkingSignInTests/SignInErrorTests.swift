import AtomNetworking
import AtomNetworkingSignIn
import Testing

@Suite(.limited)
struct SignInErrorTests {
    @Test("A sign-in's error is read from the error of a request")
    func isReadFromARequest() {
        let error = AtomError.authentication(
            .credentialNotProvided(cause: SignInError.declined, retryAt: nil, delivery: .notSent))
        #expect(error.signInError == .declined)
        #expect(AtomError.cancelled(.notSent).signInError == nil)
    }
}
