import Foundation

/// What an exchange has been through, as its outcome tells it.
struct ExchangeStory: Sendable {
    /// What was asked for; `nil` for a GET of the target.
    var asked: FirstAttempt?
    var attempts = 1
    /// Whether a redirect has led to an origin that the endpoint did not name.
    var hasLeftOrigin = false
    /// Whether a redirect was followed or a 401 retried, so that an earlier attempt had something else.
    var hasChanged = false
    /// What the attempts met that were sent again.
    var failures: [AttemptFailure] = []
}

/// Makes what the caller gets of what has arrived.
struct OutcomeMaker: Sendable {
    let acceptableStatusCodes: ClosedRange<Int>
    let isSigned: Bool
    let startedAt: MonotonicInstant
    let keeping: PreparedRequest.Keeping

    /// Whether a response is a success: for the endpoint, or for what the SDK itself has asked for.
    func accepts(
        _ head: TransportResponse, to request: TransportRequest?, for destination: (any ResponseDestination)?
    ) -> Bool {
        isAcceptable(head, to: request) || destination?.takes(head.statusCode, isAcceptable: false) == true
    }

    /// How the caller gets a response, by its status.
    func reception(
        of head: TransportResponse, to request: TransportRequest, for destination: (any ResponseDestination)?
    ) -> ExchangeMachine.Reception {
        let isAcceptable = isAcceptable(head, to: request)
        // A 401 is never what a stream or a file is for.
        if let destination, head.statusCode != 401, destination.takes(head.statusCode, isAcceptable: isAcceptable) {
            return .streamed(isPaused: false)
        }
        return isAcceptable && destination == nil ? .whole : .unacceptable
    }

    /// A part that nobody has asked for isn't the whole (RFC 9110 §15.3.7).
    private func isAcceptable(_ head: TransportResponse, to request: TransportRequest?) -> Bool {
        guard acceptableStatusCodes.contains(head.statusCode) else {
            return keeping == .confirmation && head.statusCode == 304
        }
        return head.statusCode != 206 || request?.headerFields.contains("Range") == true
    }

    /// A response as the caller gets it.
    ///
    /// - Parameters:
    ///   - tenure: Whose it is, if the request was signed.
    ///   - sent: With which fields it was asked for, if a cache may keep it.
    func response(
        _ head: TransportResponse, _ body: Data, from target: TargetURL, _ story: borrowing ExchangeStory,
        of tenure: Tenure, sent: HeaderFields?, by manager: RequestableQueueManager
    ) -> AtomResponse {
        AtomResponse(
            data: body, statusCode: head.statusCode, headerFields: head.headerFields,
            address: target.absoluteString, decoder: manager.decoder, tenure: isSigned ? tenure : nil,
            record: record(story, sent.map { noting($0, of: story.asked, to: target) }))
    }

    @inline(never)
    private func noting(_ sent: HeaderFields, of asked: FirstAttempt?, to target: TargetURL) -> FirstAttempt {
        FirstAttempt(
            method: asked?.method ?? "GET", address: asked?.address ?? target.absoluteString, sent: sent)
    }

    private func record(_ story: borrowing ExchangeStory, _ first: FirstAttempt? = nil) -> RequestRecord {
        RequestRecord(
            first: first ?? story.asked, attempts: story.attempts, startedAt: startedAt,
            hasLeftOrigin: story.hasLeftOrigin)
    }

    /// The error of a request that would have to be sent again, and can't be.
    func notRepeated(_ response: AtomResponse) -> AtomError {
        let explanation = "The request had to be sent again, but the stream of its body can be read only once."
        return .transfer(TransferError(.bodyNotRepeatable, explanation, delivery: .answered, response: response))
    }

    /// The error with its request, the attempts before, and when to come back.
    func completed(
        _ error: AtomError, to target: TargetURL, _ story: borrowing ExchangeStory, of request: TransportRequest?,
        by manager: RequestableQueueManager
    ) -> AtomError {
        var retryAt: Date?
        if case .response(let response) = error {
            let now = manager.time.date
            retryAt = RetryAfter.duration(in: response.headerFields, now: now).map {
                now.addingTimeInterval($0.seconds)
            }
        }
        var error = error
        if case .authentication(.waitedTooLong(let reach)) = error { error = manager.waitedTooLong(reach.delivery) }
        let hasChanged = story.hasChanged
        return error.noting(
            record(story).request(at: target.absoluteString, until: manager.time.now), earlier: story.failures,
            retryAt: retryAt, secrets: { hasChanged ? nil : request.flatMap(Self.secrets) })
    }

    /// What a server may repeat of a request; `nil` if that isn't known.
    private static func secrets(of request: TransportRequest) -> [String]? {
        if let body = request.body {
            // To search a longer one takes too long.
            guard let bytes = body.data, bytes.count <= SecretSearch.limit,
                !Redaction.namesCredential(String(decoding: bytes, as: UTF8.self))
            else { return nil }
        }
        return request.headerFields.secrets + request.target.secrets
    }
}

extension TargetURL {
    /// The values in path and query, and items without a name; shorter ones are choices, such as a language.
    fileprivate var secrets: [String] {
        let parts = pathAndQuery.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        let items = parts.dropFirst().joined().split(separator: "&")
        let parameters = parts[0].split { "/;".contains($0) }.filter { $0.contains("=") }
        return (items + parameters).map { String($0.contains("=") ? $0.drop { $0 != "=" }.dropFirst() : $0[...]) }
            .filter { $0.utf8.count > 3 }
    }
}

extension HeaderFields {
    /// What a server may repeat of the credential and the cookies.
    fileprivate var secrets: [String] {
        flatMap { field -> [String] in
            switch field.name.lowercased() {
            case "authorization":
                let value = field.value.split(separator: " ", maxSplits: 1).last.map(String.init) ?? ""
                let decoded = Data(base64Encoded: value).map { String(decoding: $0, as: UTF8.self) } ?? ""
                return [value, String(decoded.drop { $0 != ":" }.dropFirst())]
            case "cookie":
                // Shorter ones are choices, such as a language.
                return field.value.split(separator: ";").map { String($0.drop { $0 != "=" }.dropFirst()) }
                    .filter { $0.utf8.count > 3 }
            default: return CredentialName.isOne(field.name) ? [field.value] : []
            }
        }
    }
}
