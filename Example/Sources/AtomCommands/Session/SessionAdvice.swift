import AtomNetworking
import Foundation

/// What a failure of the session means to the person at the terminal: what
/// happened, and what to do about it.
struct SessionAdvice: Equatable {
    let message: String
    let status: RequestExitStatus

    /// - Parameters:
    ///   - error: What a request, a sign-in or a sign-out failed with.
    ///   - file: Where the session is.
    /// - Returns: `nil` if it was not for the session that it failed.
    init?(_ error: AtomError, file: URL) {
        guard case .authentication(let error) = error else { return nil }
        self.init(error, file: file)
    }

    init(_ error: AuthenticationError, file: URL) {
        switch error {
        case .missingCredential, .signedOut:
            self = .nobody
        case .refreshRejected(let answer, _):
            self.init(
                """
                The session has ended: the server no longer takes its refresh token (\(answer.description)). It has \
                expired, or the session was ended elsewhere. Sign in again with “atom login”.
                """, .signInNeeded)
        case .refreshInterrupted(let answer, _):
            self.init(
                """
                The session was lost: a process was stopped while it renewed the tokens, before it could store the \
                new ones, and the server doesn't take the old ones twice (\(answer.description)). Sign in again with \
                “atom login”.
                """, .signInNeeded)
        case .credentialNotReadable(let cause, _), .credentialNotStored(let cause, _):
            self.init(store: cause, file: file)
        case .refreshFailed(let cause as TokenStoreError, _, _):
            self.init(store: cause, file: file)
        case .credentialNotProvided(let cause, _, _):
            self.init(login: cause)
        case .refreshFailed(let cause as AtomError, _, _):
            self.init(
                "The access token could not be renewed: \(cause.description) The session goes on; try again.",
                RequestExitStatus(cause))
        case .waitedTooLong:
            self.init(error.description, .timedOut)
        default:
            self.init(error.description, .failure)
        }
    }

    /// Nobody is signed in.
    static let nobody = SessionAdvice("Nobody is signed in; “atom login” does that.", .signInNeeded)

    private init(_ message: String, _ status: RequestExitStatus) {
        self.message = message
        self.status = status
    }

    /// What the store of the session said.
    init(store error: any Error, file: URL) {
        let cause = (error as? TokenStoreError)?.description ?? "The token store failed: \(error)."
        let advice =
            switch error as? TokenStoreError {
            case .corrupt: " Sign in again with “atom login”."
            case .newerFormat: " Use the newer atom, or another --session-file."
            case .lockTimedOut: " Is a process that uses the session stopped? If so, let it go on, or end it."
            case .readOnly, .refused, .diskFull: " Mend that, or use another --session-file."
            default: ""
            }
        self.init("\(file.path): \(cause)\(advice)", .storeFailed)
    }

    private init(login cause: any Error) {
        switch cause {
        case let failure as PasswordLogin.Failure:
            self.init(failure.description, failure == .noPassword ? .signInNeeded : .loginDenied)
        case let error as AtomError:
            self.init("Nobody was signed in: \(error.description)", RequestExitStatus(error))
        case is CancellationError:
            self.init("Nobody was signed in.", .cancelled)
        default:
            self.init("Nobody was signed in: \(cause)", .failure)
        }
    }
}

extension RequestExitStatus {
    /// What came of a request that could not be signed.
    init(_ error: AuthenticationError) {
        // The file is of account to the message only.
        self = SessionAdvice(error, file: URL(fileURLWithPath: "/")).status
    }
}
