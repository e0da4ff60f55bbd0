import AtomNetworking
import Observation

/// Asks for a password while requests wait: over a screen whose session the
/// server has ended, so that nothing on it is lost.
///
/// A view shows it while ``isShown`` is true. A prompt belongs to one session.
@MainActor
@Observable
public final class LoginPrompt: TokenCredentialProvider {
    /// Whether requests wait for a password.
    public private(set) var isShown = false
    /// Whether a password is on its way.
    public private(set) var isSubmitting = false
    /// What was wrong with the last password.
    public private(set) var message: String?

    @ObservationIgnored private var waiting: CheckedContinuation<TokenCredential, any Error>?
    /// Counts the calls: what belongs to an older one is dropped.
    @ObservationIgnored private var number = 0
    private let base: BaseURL
    private let identity: Atom

    /// - Parameters:
    ///   - base: The address of the server.
    ///   - identity: Sends the passwords. It has no session, so it never waits for this prompt, and follows no
    ///     redirects, which could take a password to another server.
    public init(base: BaseURL, identity: Atom? = nil) {
        self.base = base
        var configuration = ServiceConfiguration()
        configuration.redirectLimit = nil
        self.identity = identity ?? Atom(serviceConfiguration: configuration)
    }

    /// Shows the prompt until somebody has signed in or has closed it; called by
    /// the SDK, once for all requests that wait.
    public func credential(replacing rejected: TokenCredential?) async throws -> TokenCredential {
        finish(number, .failure(CancellationError()))
        number += 1
        let number = number
        message = nil
        isSubmitting = false
        isShown = true
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { waiting = $0 }
        } onCancel: {
            // The app has signed out. This is called on any thread.
            Task { @MainActor in self.finish(number, .failure(CancellationError())) }
        }
    }

    /// Sends a password; ``message`` says why it was refused.
    public func submit(user: String, password: String) async {
        guard isShown, !isSubmitting else { return }
        let number = number
        isSubmitting = true
        message = nil
        let endpoint = SignInEndpoint(base: base, user: user, password: password)
        do throws(AtomError) {
            finish(number, .success(try await identity.enqueue(endpoint).resume(expecting: TokenCredential.self)))
        } catch {
            if number == self.number { message = ErrorMessage.text(forSignIn: error) }
        }
        if number == self.number { isSubmitting = false }
    }

    /// Closes the prompt: the session ends, and nobody is asked again before the app has signed in or out.
    public func close() {
        finish(number, .failure(TokenCredentialProviderError.retryAfterSignIn(CancellationError())))
    }

    /// A continuation is resumed exactly once.
    private func finish(_ number: Int, _ result: Result<TokenCredential, any Error>) {
        guard number == self.number, let waiting else { return }
        self.waiting = nil
        isShown = false
        waiting.resume(with: result)
    }
}
