import AtomNetworking
import Observation

/// Who uses the app: decides whether the sign-in is shown, and signs in and out.
@Observable
public final class Account {
    /// Which screen is shown.
    public enum Phase: Equatable {
        /// The stored tokens are being read.
        case starting
        /// Nobody is signed in.
        case signedOut
        /// A user is signed in.
        case signedIn
    }

    /// Which screen is shown now.
    public private(set) var phase = Phase.starting
    /// Whether a sign-in is on its way.
    public private(set) var isSigningIn = false
    /// What to say above the sign-in: why it failed, or why the session ended.
    public private(set) var message: String?

    /// The service that the session belongs to.
    public let service: AirlineService

    /// Creates the account of a service.
    public init(_ service: AirlineService) {
        self.service = service
    }

    /// Follows the session until the task is cancelled: for the `task` of the app's first view.
    public func follow() async {
        for await state in service.atom.sessionStates {
            switch state {
            case .unknown:
                phase = .starting
            case .signedIn, .refreshing:
                phase = .signedIn
                message = nil
            case .signedOut:
                phase = .signedOut
            case .ended:
                phase = .signedOut
                message = "Your session has ended. Please sign in again."
            @unknown default:
                break
            }
        }
    }

    /// Shows the server's page; ``message`` says why nobody was signed in, unless the person has closed it.
    ///
    /// A second call does nothing while the first one runs.
    public func signIn() async {
        guard !isSigningIn else { return }
        isSigningIn = true
        message = nil
        defer { isSigningIn = false }
        do throws(AtomError) {
            try await service.signIn.signIn(to: service.atom)
        } catch {
            message = ErrorMessage.text(for: error)
        }
    }

    /// Signs out; the server revokes the tokens soon after.
    public func signOut() async {
        do throws(AtomError) {
            try await service.atom.signOut()
        } catch {
            // The session has ended, but its tokens are still stored.
            message = ErrorMessage.text(for: error)
        }
    }
}
