import AtomNetworking
import Foundation

/// The app's own source of its first tokens: it asks the user for a password
/// and exchanges it for tokens (RFC 6749 §4.3).
struct PasswordLogin: TokenCredentialProvider {
    /// Why the sign-in failed.
    enum Failure: Error, Equatable, CustomStringConvertible {
        /// No user can be asked.
        case noPassword
        /// The server rejected name or password.
        case refused(user: String)

        var description: String {
            switch self {
            case .noPassword: "No password was given."
            case .refused(let user): "The user name \(user) or the password is wrong."
            }
        }
    }

    let airline: Airline
    let clientID: String
    let user: String
    /// How often a user may try.
    let attempts: Int
    /// Returns a password; the argument is the number of the attempt, from 1.
    let password: @Sendable (Int) async throws -> String?

    func credential(replacing rejected: TokenCredential?) async throws -> TokenCredential {
        let plain = Atom()
        for attempt in 1...max(attempts, 1) {
            guard let password = try await password(attempt), !password.isEmpty else {
                throw TokenCredentialProviderError(Failure.noPassword, retry: .afterSignIn)
            }
            let endpoint = SignInEndpoint.password(
                airline, user: NameAndSecret(name: user, secret: password),
                client: NameAndSecret(name: clientID, secret: ""))
            do throws(AtomError) {
                return try await plain.enqueue(endpoint).resume(expecting: TokenCredential.self)
            } catch {
                guard let answer = try? error.decodeIfPresent(as: OAuthError.self), answer.code == "invalid_grant"
                else { throw TokenCredentialProviderError(error, retry: .afterSignIn) }
            }
        }
        throw TokenCredentialProviderError(Failure.refused(user: user), retry: .afterSignIn)
    }
}
