import Foundation

extension AtomError {
    /// What an error means for the person who uses the app.
    ///
    /// It is decided by what the person can do. Its ``description`` is in English, ``description(in:)`` in other
    /// languages; for words of your own see <doc:HandlingErrors#Tell-the-person-who-uses-the-app>.
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
        /// The server may only be used over a secure connection, and the URL says `http`.
        case secureConnectionRequired
        /// The server can't do it at the moment, or its response is unusable.
        case serverProblem
        /// Nobody is signed in, or not any more.
        case signInRequired
        /// The server doesn't allow this to the person who is signed in.
        case notAllowed
        /// The server doesn't have it.
        case notFound
        /// Something that the app was given isn't valid: a URL, a host, a user name.
        case invalidInput
        /// A file or a folder on this device is missing, in use, read-only, or not for this user.
        case fileProblem
        /// The device has too little space.
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
    /// counts as itself, and every other error of a provider is ``Situation-swift.enum/signInRequired``. What a token
    /// store, a signer, an adapter or an endpoint has thrown counts if it is an error of the SDK, of the system or of a
    /// file.
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
        case .response(let response) where response.expectsTLS: .secureConnectionRequired
        case .response(let response) where response.statusCode == 407 && !response.isOfProxy: .other
        case .response(let response): Situation(response.statusCode)
        case .session(let error as URLError): Situation(error.code)
        case .authentication(let error): error.situation
        case .transfer(let error): error.situation
        case .requestable(let error): error.situation
        case .cancelled: .cancelled
        case .decoder, .session, .unexpected: .other
        }
    }

    var hasEndedSession: Bool {
        if case .authentication(let error) = self { error.hasEndedSession } else { false }
    }
}

/// An error of which `localizedDescription` is for the person who uses the app.
protocol ErrorForPeople: Redacted, LocalizedError {
    var situation: AtomError.Situation { get }
    /// Whether somebody was signed in until then.
    var hasEndedSession: Bool { get }
}

extension ErrorForPeople {
    var hasEndedSession: Bool { false }

    /// One short sentence in the app's language, without a host, a code or a cause.
    public var errorDescription: String? {
        let sentence = SentenceForPeople(situation, again: hasEndedSession)
        #if canImport(Darwin)
            return sentence.text(for: .main)
        #else
            // No program has languages here, and `Bundle.main` may trap.
            return sentence.en
        #endif
    }
}

extension AtomError.Situation: CustomStringConvertible {
    /// One short sentence in English, for people.
    public var description: String { SentenceForPeople(self).en }

    /// The same sentence in the first of these languages that the SDK has, else in English.
    ///
    /// It has Arabic, simplified Chinese, English, French, German, Italian, Japanese, Korean, Portuguese, Russian and
    /// Spanish.
    ///
    /// <!-- given the airline -->
    /// ```swift
    /// do {
    ///     try await service.resume()
    /// } catch {
    ///     print(error.situation.description(in: Locale.preferredLanguages))
    /// }
    /// ```
    ///
    /// - Parameter languages: Tags such as `pt-BR` (BCP 47), or a value of `LANG`; the best one first.
    public func description(in languages: [String]) -> String { SentenceForPeople(self).text(in: languages) }

    fileprivate init(_ statusCode: Int?) {
        self =
            switch statusCode ?? 0 {
            case 401: .signInRequired
            case 403, 451: .notAllowed
            case 404, 410: .notFound
            // The proxy has not asked the server.
            case 407: .unreachable
            case 408, 425, 429, 500...599: .serverProblem
            default: .other
            }
    }

    init(_ code: URLError.Code) {
        self =
            switch code {
            case .notConnectedToInternet, .dataNotAllowed, .internationalRoamingOff, .callIsActive: .offline
            case .cannotFindHost, .dnsLookupFailed, .cannotConnectToHost, .networkConnectionLost, .timedOut,
                .resourceUnavailable, .cannotLoadFromNetwork:
                .unreachable
            case .secureConnectionFailed, .serverCertificateHasBadDate, .serverCertificateUntrusted,
                .serverCertificateHasUnknownRoot, .serverCertificateNotYetValid, .clientCertificateRejected,
                .clientCertificateRequired:
                .insecureConnection
            case .appTransportSecurityRequiresSecureConnection: .secureConnectionRequired
            case .badServerResponse, .cannotParseResponse, .cannotDecodeRawData, .cannotDecodeContentData,
                .httpTooManyRedirects, .redirectToNonExistentLocation, .zeroByteResource:
                .serverProblem
            case .userAuthenticationRequired: .signInRequired
            case .badURL, .unsupportedURL: .invalidInput
            case .fileDoesNotExist, .fileIsDirectory, .noPermissionsToReadFile, .cannotCreateFile, .cannotOpenFile,
                .cannotCloseFile, .cannotWriteToFile, .cannotRemoveFile, .cannotMoveFile:
                .fileProblem
            case .cancelled, .userCancelledAuthentication: .cancelled
            default: .other
            }
    }

    /// What a token store, or a part of the app, has thrown; `nil` for an error of the app's own.
    fileprivate init?(cause: any Error) {
        switch cause.innermost {
        case let error as any ErrorForPeople: self = error.situation
        case let error as TokenStoreError: self = error.situation
        case is TokenResponseError: self = .serverProblem
        case is CancellationError: self = .cancelled
        case let error as URLError: self.init(error.code)
        case let error as POSIXError where [.ENOSPC, .EDQUOT].contains(error.code): self = .noSpace
        case let error as POSIXError where Self.fileCodes.contains(error.code): self = .fileProblem
        case let error as CocoaError where error.code == .fileWriteOutOfSpace: self = .noSpace
        // Foundation's errors of files end with `NSFileErrorMaximum`.
        case let error as CocoaError where (0...1_023).contains(error.code.rawValue): self = .fileProblem
        default: return nil
        }
    }

    private static let fileCodes: Set<POSIXErrorCode> = [
        .ENOENT, .ENOTDIR, .EISDIR, .EACCES, .EPERM, .EROFS, .EBUSY, .EEXIST, .ELOOP, .ENAMETOOLONG, .EFBIG, .EIO,
    ]
}

extension RequestableError {
    var situation: AtomError.Situation {
        if let situation = violation.situation { return situation }
        return switch self {
        case .invalidBaseURL, .invalidURL, .invalidURLPath, .invalidHeader, .invalidCredential, .originNotAllowed:
            .invalidInput
        case .endpointFailed(_, let cause), .adapterFailed(_, let cause): .init(cause: cause) ?? .other
        case .invalidMethod, .invalidBody, .invalidTimeout, .unsupportedConfiguration: .other
        }
    }
}

extension AuthenticationError {
    var situation: AtomError.Situation {
        switch self {
        case .missingCredential, .refreshRejected, .refreshInterrupted, .signedOut: .signInRequired
        case .tooManyRefreshes: .serverProblem
        case .waitedTooLong: .unreachable
        case .refreshFailed(let cause, _, _), .credentialNotRevoked(let cause, _):
            Self.situation(of: cause) ?? (cause.innermost is AtomError ? .other : .init(cause: cause)) ?? .other
        case .credentialNotProvided(let cause, _, _): Self.situation(of: cause) ?? .signInRequired
        case .credentialNotReadable(let cause, _), .credentialNotStored(let cause, _), .notSigned(let cause, _):
            .init(cause: cause) ?? .other
        case .noSession: .other
        }
    }

    var hasEndedSession: Bool {
        switch self {
        case .refreshRejected, .refreshInterrupted: true
        default: false
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
        let situation = AtomError.Situation(response.statusCode)
        return [.serverProblem, .unreachable].contains(situation) ? situation : nil
    }
}

extension TransferError {
    var situation: AtomError.Situation {
        switch reason {
        case .noSpace: .noSpace
        case .destinationUnusable, .writingFailed, .bodyLengthChanged: .fileProblem
        case .bodyFailed: underlyingError.flatMap(AtomError.Situation.init(cause:)) ?? .other
        case .incompleteResponse, .unexpectedMediaType, .notUTF8, .repeatedPage: .serverProblem
        case .bodyNotRepeatable, .tooLarge, .answeredByPlugin: .other
        }
    }
}

extension TokenStoreError {
    fileprivate var situation: AtomError.Situation {
        switch self {
        case .corrupt: .signInRequired
        case .refused(let reason) where reason.hasSuffix(Self.signInAgain): .signInRequired
        case .diskFull: .noSpace
        // The Keychain is no file.
        case .system(let operation, _) where operation.hasPrefix("Sec"): .other
        case .locked, .missingEntitlement, .overtaken: .other
        case .newerFormat, .lockTimedOut, .readOnly, .refused, .system: .fileProblem
        }
    }
}
