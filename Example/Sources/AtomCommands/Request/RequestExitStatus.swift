import AtomNetworking
import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The exit status of the commands that send one request, and of the session
/// commands: curl's number where curl has one, otherwise that of sysexits.h.
enum RequestExitStatus: Int32, CaseIterable {
    case success = 0
    case failure = 1
    case invalidRequest = 2
    case hostNotFound = 6
    case connectionFailed = 7
    case incomplete = 18
    case errorStatus = 22
    case timedOut = 28
    case notSecure = 35
    case tooManyRedirects = 47
    case connectionLost = 56
    case tooLarge = 63
    case wrongArguments = 64
    case loginDenied = 67
    case fileFailed = 74
    case signInNeeded = 77
    case cancelled = 130
    case terminated = 143

    init<Success>(_ result: Result<Success, AtomError>) {
        self =
            switch result {
            case .success: .success
            case .failure(let error): RequestExitStatus(error)
            }
    }

    /// This status, or 128 and the number of the signal that cancelled the command, as a shell has it.
    func after(_ signal: Int32?) -> RequestExitStatus {
        switch signal {
        case SIGINT: .cancelled
        case SIGTERM: .terminated
        default: self
        }
    }

    /// The exit status for an error.
    init(_ error: AtomError) {
        self =
            switch error {
            case .requestable: .invalidRequest
            case .response: .errorStatus
            case .cancelled: .cancelled
            case .session(let error): RequestExitStatus(wire: error)
            // Only the message depends on the file.
            case .authentication: SessionAdvice(error, file: URL(fileURLWithPath: "/")).status
            case .transfer(let error): RequestExitStatus(error.reason)
            case .decoder, .unexpected: .failure
            @unknown default: .failure
            }
    }

    private init(wire error: any Error) {
        self =
            switch (error as? URLError)?.code {
            case .cannotFindHost, .dnsLookupFailed: .hostNotFound
            case .cannotConnectToHost, .notConnectedToInternet: .connectionFailed
            case .timedOut: .timedOut
            case .secureConnectionFailed, .serverCertificateHasBadDate, .serverCertificateUntrusted,
                .serverCertificateHasUnknownRoot, .serverCertificateNotYetValid, .clientCertificateRejected,
                .clientCertificateRequired:
                .notSecure
            case .httpTooManyRedirects: .tooManyRedirects
            case .networkConnectionLost, .badServerResponse, .cannotParseResponse: .connectionLost
            default: .failure
            }
    }

    /// The exit status for a file, a download or a stream.
    init(_ reason: TransferError.Reason) {
        self =
            switch reason {
            case .bodyFailed, .bodyLengthChanged, .destinationUnusable, .noSpace, .writingFailed: .fileFailed
            case .incompleteResponse: .incomplete
            case .tooLarge: .tooLarge
            case .bodyNotRepeatable, .unexpectedMediaType, .notUTF8, .repeatedPage, .answeredByPlugin: .failure
            @unknown default: .failure
            }
    }

    /// For `--help`.
    var explanation: String {
        switch self {
        case .success: "the server answered with 2xx or 3xx"
        case .failure: "any other failure"
        case .invalidRequest: "the request is not valid and was not sent"
        case .hostNotFound: "no server with this name was found"
        case .connectionFailed: "no connection was made"
        case .incomplete: "only a part of the response arrived"
        case .errorStatus: "the server answered with 4xx or 5xx"
        case .timedOut: "the request timed out"
        case .notSecure: "no secure connection was made"
        case .tooManyRedirects: "the server redirected too often"
        case .connectionLost: "the connection was lost, or the response was not HTTP"
        case .tooLarge: "the response is larger than its limit"
        case .wrongArguments: "the command line is wrong"
        case .loginDenied: "the user name or the password is wrong, or the sign-in was refused"
        case .fileFailed: "the session file, or the file of a transfer, can't be used"
        case .signInNeeded: "you are not signed in, or the session has ended"
        case .cancelled: "cancelled with Ctrl-C (SIGINT)"
        case .terminated: "cancelled with SIGTERM"
        }
    }

    /// All of them, one line each.
    static var table: String {
        allCases.map { status in
            let number = String(status.rawValue)
            return String(repeating: " ", count: max(5 - number.count, 0)) + "\(number)  \(status.explanation)"
        }.joined(separator: "\n")
    }
}
