import AtomNetworking
import Foundation

/// When the token endpoint is asked while a person signs in on another device (RFC 8628 §3.5), as a pure value.
struct DevicePolling {
    private let expiry: MonotonicInstant
    /// The shortest pause that the server allows.
    private var interval: Duration
    /// The next pause.
    private var pause: Duration

    init(interval: Duration, expiry: MonotonicInstant) {
        self.interval = interval
        self.expiry = expiry
        pause = interval
    }

    /// When it is asked for the first time.
    func begin(at now: MonotonicInstant) throws(AtomError) -> MonotonicInstant {
        try next(after: now, orThrow: .signIn(.deviceCodeExpired))
    }

    /// When it is asked again after a request has failed.
    ///
    /// - Parameters:
    ///   - error: What the request has thrown.
    ///   - now: When it has; a pause begins here, so a slow response doesn't shorten it.
    /// - Throws: What ends the sign-in: also this failure, if there is no time for another request.
    mutating func failed(_ error: AtomError, at now: MonotonicInstant) throws(AtomError) -> MonotonicInstant {
        guard case .authentication(.credentialNotProvided(let cause, _, let delivery)) = error,
            case .refused(let answer)? = cause as? SignInError
        else {
            guard Self.mayPass(error) else { throw error }
            return try backOff(after: error, at: now)
        }
        switch answer.code {
        case "authorization_pending": break
        // For this and all later requests.
        case "slow_down": interval += .seconds(5)
        case "access_denied": throw .signIn(.declined, delivery: delivery)
        case "expired_token": throw .signIn(.deviceCodeExpired, delivery: delivery)
        // What a status of 500 or 503 says, in OAuth's words (RFC 6749 §4.1.2.1).
        case "server_error", "temporarily_unavailable": return try backOff(after: error, at: now)
        default: throw error
        }
        pause = interval
        return try next(after: now, orThrow: .signIn(.deviceCodeExpired, delivery: delivery))
    }

    /// A pause twice as long as the last one.
    private mutating func backOff(
        after error: AtomError, at now: MonotonicInstant
    ) throws(AtomError) -> MonotonicInstant {
        // Longer than any code lasts, and a number that can't overflow.
        pause = min(pause * 2, .seconds(31_536_000))
        return try next(after: now, orThrow: error)
    }

    private func next(after now: MonotonicInstant, orThrow error: AtomError) throws(AtomError) -> MonotonicInstant {
        let next = now.advanced(by: pause)
        guard next < expiry else { throw error }
        return next
    }

    /// Whether it is a failure of the network, or of a server that has no time.
    private static func mayPass(_ error: AtomError) -> Bool {
        switch error {
        case .session: true
        case .response(let response): response.statusCode.map { $0 >= 500 || $0 == 429 } ?? false
        default: false
        }
    }
}
