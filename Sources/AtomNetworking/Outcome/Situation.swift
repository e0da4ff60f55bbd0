import Foundation

extension AtomError {
    /// What an error means for the person who uses the app.
    ///
    /// It is decided by what the person can do. Its ``description`` is in English; for
    /// other words or languages, switch over it: <doc:HandlingErrors>.
    #if hasAttribute(nonexhaustive)
        @nonexhaustive
    #endif
    public enum Situation: Sendable, Hashable {
        /// The device has no network that the app may use.
        case offline
        /// The server can't be reached, or takes too long.
        case unreachable
        /// No secure connection could be made.
        case insecureConnection
        /// The server can't do it at the moment, or its response is unusable.
        case serverProblem
        /// Nobody is signed in any more.
        case signInRequired
        /// The server doesn't allow this to the person who is signed in.
        case notAllowed
        /// The server doesn't have it.
        case notFound
        /// The device has too little space for a download.
        case noSpace
        /// Somebody has cancelled it.
        case cancelled
        /// All that a person can do nothing about, such as a mistake in the app.
        case other
    }

    /// What the error means for the person who uses the app; if the token could not be refreshed, why.
    ///
    /// A temporary status of the token endpoint is ``Situation-swift.enum/serverProblem``, any other, such as a 401 with
    /// `invalid_client`, is ``Situation-swift.enum/other``. An ``AtomError`` that a ``TokenCredentialProvider`` throws
    /// counts as itself, and every other error of a provider is ``Situation-swift.enum/signInRequired``.
    ///
    /// <!-- given the airline -->
    /// ```swift
    /// do {
    ///     try await service.resume()
    /// } catch {
    ///     if error.situation == .signInRequired { print("Sign in again.") }
    /// }
    /// ```
    public var situation: Situation {
        switch self {
        case .response(let response): Situation(statusCode: response.statusCode)
        case .session(let error as URLError): Situation(error.code)
        case .authentication(let error): error.situation
        case .transfer(let error): error.situation
        case .cancelled: .cancelled
        case .decoder, .requestable, .session, .unexpected: .other
        }
    }
}

/// An error of which `localizedDescription` is for the person who uses the app.
protocol ErrorForPeople: Redacted, LocalizedError {
    var situation: AtomError.Situation { get }
}

extension ErrorForPeople {
    var situation: AtomError.Situation { .other }

    /// One short sentence in English, without a host, a code or a cause.
    public var errorDescription: String? { situation.description }
}

extension AtomError.Situation: CustomStringConvertible {
    /// One short sentence in English, for people.
    public var description: String {
        switch self {
        case .offline: "You are offline."
        case .unreachable: "The server doesn't respond. Try again later."
        case .insecureConnection: "The connection to the server isn't secure."
        case .serverProblem: "The server has a problem. Try again later."
        case .signInRequired: "You have to sign in again."
        case .notAllowed: "You aren't allowed to do this."
        case .notFound: "This could not be found."
        case .noSpace: "There isn't enough space on this device."
        case .cancelled: "This was cancelled."
        case .other: "Something went wrong."
        }
    }

    fileprivate init(statusCode: Int?) {
        self =
            switch statusCode ?? 0 {
            case 401: .signInRequired
            case 403, 451: .notAllowed
            case 404, 410: .notFound
            case 408, 425, 429, 500...599: .serverProblem
            default: .other
            }
    }

    fileprivate init(_ code: URLError.Code) {
        self =
            switch code {
            case .notConnectedToInternet, .dataNotAllowed, .internationalRoamingOff, .callIsActive: .offline
            case .cannotFindHost, .dnsLookupFailed, .cannotConnectToHost, .networkConnectionLost, .timedOut:
                .unreachable
            case .secureConnectionFailed, .serverCertificateHasBadDate, .serverCertificateUntrusted,
                .serverCertificateHasUnknownRoot, .serverCertificateNotYetValid, .clientCertificateRejected,
                .clientCertificateRequired, .appTransportSecurityRequiresSecureConnection:
                .insecureConnection
            case .badServerResponse, .cannotParseResponse, .cannotDecodeRawData, .cannotDecodeContentData,
                .httpTooManyRedirects:
                .serverProblem
            case .cancelled, .userCancelledAuthentication: .cancelled
            default: .other
            }
    }
}

extension AuthenticationError {
    var situation: AtomError.Situation {
        switch self {
        case .missingCredential, .refreshRejected, .refreshInterrupted, .signedOut: .signInRequired
        case .tooManyRefreshes: .serverProblem
        case .waitedTooLong: .unreachable
        case .refreshFailed(let cause, _, _), .credentialNotRevoked(let cause, _): Self.situation(of: cause) ?? .other
        case .credentialNotProvided(let cause, _, _): Self.situation(of: cause) ?? .signInRequired
        default: .other
        }
    }

    /// A status of the token endpoint is about the app, unless it is temporary.
    private static func situation(of cause: any Error) -> AtomError.Situation? {
        switch cause.innermost {
        case AtomError.response(let response): situation(of: response)
        case let error as AtomError: error.situation
        case let error as OAuthError: error.response.flatMap(situation)
        case is CancellationError: .cancelled
        default: nil
        }
    }

    private static func situation(of response: AtomResponse) -> AtomError.Situation? {
        AtomError.Situation(statusCode: response.statusCode) == .serverProblem ? .serverProblem : nil
    }
}

extension TransferError {
    var situation: AtomError.Situation {
        switch reason {
        case .noSpace: .noSpace
        case .incompleteResponse, .unexpectedMediaType, .notUTF8: .serverProblem
        default: .other
        }
    }
}
