import Foundation

/// Why a body could not be sent, or a download, a stream or a list of pages not be completed.
///
/// Two are equal if their ``reason`` is the same.
public struct TransferError: Error {
    /// What went wrong.
    public let reason: Reason

    /// A sentence that says what happened, and the fix if there is one; it may name a file, but never its content.
    public let explanation: String

    /// How far the request got.
    public let delivery: AtomError.Delivery

    /// The response after which the body could not be sent again, or the head of what is not a stream of events.
    public let response: AtomResponse?

    /// The error of the system, or the one that the app's stream threw.
    public let underlyingError: (any Error)?

    private(set) var earlier: [AttemptFailure] = []
    private(set) var request: AtomError.Request?

    /// What can go wrong with a body, a download, a stream or a list of pages.
    #if hasAttribute(nonexhaustive)
        @nonexhaustive
    #endif
    public enum Reason: String, Sendable, Hashable {
        /// The request had to be sent again, and its body can be read only once.
        case bodyNotRepeatable
        /// The app's stream threw, or a file could not be read while it was sent.
        case bodyFailed
        /// The body was shorter or longer than announced, as that of a changed file.
        case bodyLengthChanged
        /// The destination of a download can't be written.
        case destinationUnusable
        /// The disk has too little space for a download.
        case noSpace
        /// The file of a download could not be written.
        case writingFailed
        /// The response was called complete and is shorter than announced, or its range is not what was asked for.
        ///
        /// A body that is cut off is `AtomError.session` with `URLError.networkConnectionLost`.
        case incompleteResponse
        /// A download, a line or an event is larger than its limit, or a list has more pages.
        case tooLarge
        /// The response to a request for server-sent events is something else.
        case unexpectedMediaType
        /// A stream of text is not UTF-8.
        case notUTF8
        /// A list of pages leads back to a page that was asked for before.
        case repeatedPage
        /// An ``AtomPlugin`` has answered a download or a stream itself, and only the server has a file or a stream.
        case answeredByPlugin
    }

    package init(
        _ reason: Reason, _ explanation: String, delivery: AtomError.Delivery, response: AtomResponse? = nil,
        underlying: (any Error)? = nil
    ) {
        self.reason = reason
        self.explanation = explanation
        self.delivery = delivery
        self.response = response
        underlyingError = underlying
    }
}

extension AtomError {
    static func transfer(
        _ reason: TransferError.Reason, _ explanation: String, delivery: Delivery = .answered,
        underlying: (any Error)? = nil
    ) -> AtomError { .transfer(TransferError(reason, explanation, delivery: delivery, underlying: underlying)) }
}

extension TransferError {
    /// A file of a response that can't be written; the failure has no full stop.
    init(_ failure: String, writing code: Int32) {
        let isFull = code == ENOSPC || code == EDQUOT
        let words = isFull ? "the disk has no space left" : String(cString: strerror(code))
        self.init(
            isFull ? .noSpace : .writingFailed, "\(failure): \(words).", delivery: .answered,
            underlying: POSIXErrorCode(rawValue: code).map { POSIXError($0) })
    }

    func noting(_ request: AtomError.Request, earlier: [AttemptFailure]) -> TransferError {
        var error = self
        error.request = request
        error.earlier = earlier
        return error
    }

    func delivered(_ delivery: AtomError.Delivery) -> TransferError {
        TransferError(reason, explanation, delivery: delivery, response: response, underlying: underlyingError)
    }
}

extension TransferError: Equatable, ErrorForPeople {
    /// Whether two errors have the same reason.
    public static func == (first: TransferError, second: TransferError) -> Bool { first.reason == second.reason }

    /// The ``explanation``, and the status of the ``response``.
    public var description: String {
        guard let response else { return explanation }
        return "\(explanation) \(response.explanation(withWords: false))"
    }
}
