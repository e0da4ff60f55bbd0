import AtomNetworking
import Foundation

/// The app's own source of its first tokens: it asks the user for a password and exchanges it (RFC 6749 §4.3).
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
    /// Returns a password.
    let password: @Sendable () async -> String?

    func credential(replacing rejected: TokenCredential?) async throws -> TokenCredential {
        guard let password = await password(), !password.isEmpty else {
            throw TokenCredentialProviderError.retryAfterSignIn(Failure.noPassword)
        }
        let endpoint = SignInEndpoint(
            airline: airline, user: NameAndSecret(name: user, secret: password),
            client: ClientCredential(id: clientID))
        // A redirect could take the password to another server.
        var configuration = ServiceConfiguration()
        configuration.redirectLimit = nil
        do throws(AtomError) {
            return try await Atom(serviceConfiguration: configuration).enqueue(endpoint)
                .resume(expecting: TokenCredential.self)
        } catch {
            let answer = try? error.decodeIfPresent(as: OAuthError.self)
            let isRefused = answer?.code == "invalid_grant"
            throw TokenCredentialProviderError.retryAfterSignIn(
                isRefused ? Failure.refused(user: user) as any Error : error)
        }
    }
}
