import AtomNetworking
import AtomNetworkingSignIn
import Foundation

/// The meaning of a session's failure for the user: what happened, and what to do.
struct SessionAdvice {
    let message: String
    let status: RequestExitStatus

    /// - Parameters:
    ///   - error: The error of a request, a sign-in or a sign-out.
    ///   - file: The session file.
    init(_ error: AtomError, file: URL) {
        if case .authentication(let error) = error {
            self.init(error, file: file)
        } else {
            self.init(error.description, RequestExitStatus(error))
        }
    }

    private init(_ error: AuthenticationError, file: URL) {
        switch error {
        case .missingCredential, .signedOut:
            self.init("You are not signed in. Sign in with “atom login”.", .signInNeeded)
        case .refreshRejected(let answer, _):
            self.init(
                """
                The session has ended: the server no longer accepts its refresh token (\(answer.description)). It has \
                expired, or the session was ended elsewhere. Sign in again with “atom login”.
                """, .signInNeeded)
        case .refreshInterrupted(let answer, _):
            self.init(
                """
                The session was lost: a process was stopped while it refreshed the tokens, before it could store the \
                new ones, and the server doesn't accept the old ones again (\(answer.description)). Sign in again \
                with “atom login”.
                """, .signInNeeded)
        // Of the file's own session.
        case .credentialNotStored(let cause as AtomError, _):
            self.init(cause, file: file)
        case .credentialNotReadable(let cause, _), .credentialNotStored(let cause, _):
            self.init(store: cause, file: file)
        case .refreshFailed(let cause as TokenStoreError, _, _):
            self.init(store: cause, file: file)
        case .credentialNotProvided(let cause, _, _):
            self.init(login: cause)
        case .refreshFailed(let cause as AtomError, _, _) where cause.delivery == .maybeSent:
            self.init(
                """
                The access token could not be refreshed: \(cause.description) If the server has sent new tokens, they \
                are lost, and you have to sign in again with “atom login”.
                """, RequestExitStatus(cause))
        case .refreshFailed(let cause as AtomError, _, _):
            self.init(
                "The access token could not be refreshed: \(cause.description) The session continues; try again.",
                RequestExitStatus(cause))
        case .waitedTooLong:
            self.init(error.description, .timedOut)
        default:
            self.init(error.description, .failure)
        }
    }

    private init(_ message: String, _ status: RequestExitStatus) {
        self.message = message
        self.status = status
    }

    /// The advice for an error of the session's store.
    init(store error: any Error, file: URL) {
        if let failure = error as? FileKey.Failure {
            self.init("\(failure) Sign in again with “atom login”.", .fileFailed)
            return
        }
        let cause = (error as? TokenStoreError)?.description ?? "The token store failed: \(error)."
        let advice =
            switch error as? TokenStoreError {
            case .corrupt: " Sign in again with “atom login”."
            case .newerFormat: " Use a newer version of atom, or another --session-file."
            case .lockTimedOut: " Is a process that uses the session paused? If so, resume it or end it."
            case .readOnly, .refused, .diskFull: " Fix that, or use another --session-file."
            default: ""
            }
        self.init("\(file.path): \(cause)\(advice)", .fileFailed)
    }

    private init(login cause: any Error) {
        switch cause {
        case let failure as PasswordLogin.Failure:
            self.init(failure.description, failure == .noPassword ? .signInNeeded : .loginDenied)
        case let error as SignInError:
            self.init(page: error)
        case let error as AtomError:
            self.init("The sign-in failed: \(error.description)", RequestExitStatus(error))
        case is CancellationError:
            self.init("No user was signed in.", .cancelled)
        default:
            self.init("The sign-in failed: \(cause)", .failure)
        }
    }

    /// - Parameter error: Why a sign-in on a page, or on another device, has failed.
    private init(page error: SignInError) {
        let (advice, status): (String, RequestExitStatus) =
            switch error {
            case .declined, .refused, .differentUser: ("Nothing has changed.", .loginDenied)
            case .timedOut: ("Try again.", .timedOut)
            case .deviceCodeExpired: ("“atom login --device” shows a new one.", .timedOut)
            case .browserFailed: ("“atom login --device” needs no browser here.", .failure)
            case .invalidMetadata, .unsupported:
                ("With a user name and a password: “atom login --user NAME”.", .failure)
            case .wrongIssuer: ("If you trust it, use that address for --server.", .failure)
            case .wrongState, .invalidCallback:
                ("Somebody may have interfered, so nobody was signed in. Try again.", .failure)
            case .invalidIDToken, .invalidTokenResponse: ("Nobody was signed in.", .failure)
            @unknown default: ("Nobody was signed in.", .failure)
            }
        self.init("\(error.description) \(advice)", status)
    }

    /// Tells the user.
    ///
    /// - Returns: The status of the command.
    func show(on notes: Terminal) -> RequestExitStatus {
        notes.print(ResponsePrinter.printable(message))
        return status
    }
}
