import Foundation

// The outcome, and who is told.
extension Exchange {
    /// The outcome of a complete response.
    ///
    /// - Parameter wire: The attempt that brought it; `nil` for the last one.
    func judged(
        _ head: TransportResponse, _ body: Data, from target: TargetURL, of wire: AttemptOnWire? = nil
    ) -> Result<AtomResponse, AtomError> {
        let answer = response(head, body, from: target, of: wire)
        return accepts(head.statusCode) ? .success(answer) : .failure(completed(.response(answer), of: wire))
    }

    /// Whether a status is a success: for the endpoint, or for what the SDK
    /// itself has asked for.
    func accepts(_ statusCode: Int) -> Bool {
        acceptableStatusCodes.contains(statusCode) || destination?.takes(statusCode, isAcceptable: false) == true
    }

    /// A response as the caller gets it.
    func response(
        _ head: TransportResponse, _ body: Data, from target: TargetURL, of wire: AttemptOnWire? = nil
    ) -> AtomResponse {
        let isSigned = self.isSigned && !content.withLock { $0.machine.attempt.hasLeftOrigin }
        return AtomResponse(
            data: body, statusCode: head.statusCode, headerFields: head.headerFields,
            address: target.absoluteString, decoder: manager.decoder,
            signatory: isSigned ? manager.signatory : nil, record: record(of: wire))
    }

    private func record(of wire: AttemptOnWire?) -> RequestRecord {
        // Nearly every request is a GET that is sent once.
        if let wire, wire.number == 1, wire.request.method == "GET" {
            return RequestRecord(first: nil, attempts: 1, startedAt: startedAt)
        }
        let (asked, attempts) = content.withLock { ($0.machine.attempt.asked, $0.machine.number) }
        return RequestRecord(first: asked, attempts: attempts, startedAt: startedAt)
    }

    /// The error of a request that would have to be sent again, and can't be.
    func notRepeated(after head: TransportResponse, _ body: Data, from target: TargetURL) -> AtomError {
        let explanation = "The request had to be sent again, but the stream of its body can be read only once."
        let answer = response(head, body, from: target)
        return completed(
            .transfer(TransferError(.bodyNotRepeatable, explanation, delivery: .answered, response: answer)))
    }

    /// Tells an outcome for which no sink has to be ended.
    func tellOutcome() {
        let (outcome, target) = content.withLock { ($0.machine.outcome, $0.machine.attempt.target) }
        switch outcome {
        case .failure(let error): settle(.failure(completed(error)))
        case .rejection(let head, let body): settle(judged(head, body, from: target))
        case .answer, .bodyNotRepeatable, nil: break
        }
    }

    /// Tells the outcome; called once.
    func settle(_ outcome: consuming Result<AtomResponse, AtomError>) {
        // Before observers hear of the end, which may ask for the same again.
        if case .sharing(let sharing, let number) = listener { sharing.closed(number) }
        if let observation { tellEnd(outcome, observation, at: manager.time.now) }
        switch listener {
        case .awaiting:
            var outcome = Optional(outcome)
            let awaiting = content.withLock { $0.awaited.settle(&outcome) }
            awaiting?.resume()
        case .sharing(let sharing, let number):
            sharing.ended(number, outcome)
        case .completion(let completion):
            completion(outcome)
        case .dispatched(let completion):
            manager.dispatchQueue.async {
                [outcome, queue = manager.dispatchQueue, handler = manager.resultHandler] in
                completion(outcome)
                handler?()
                if case .failure(let error) = outcome { AtomNotification.announceRefusal(error, on: queue) }
            }
        }
    }

    /// The error with its request, the attempts before, and when to come back.
    ///
    /// - Parameter wire: The attempt that met it, if it is known.
    func completed(_ error: AtomError, of wire: AttemptOnWire? = nil) -> AtomError {
        let (earlier, address) = content.withLock {
            ($0.machine.retries?.failures ?? [], $0.machine.attempt.target.absoluteString)
        }
        var retryAt: Date?
        if case .response(let response) = error {
            let now = manager.time.date
            retryAt = RetryAfter.duration(in: response.headerFields, now: now).map {
                now.addingTimeInterval($0.seconds)
            }
        }
        return error.noting(
            record(of: nil).request(at: address, until: manager.time.now), earlier: earlier, retryAt: retryAt,
            secrets: wire?.request.headerFields.secrets)
    }

    // These two are never inlined: else an async frame would reserve memory for them.

    /// Whether the outcome is known.
    @inline(never)
    var hasOutcome: Bool { content.withLock { $0.awaited.isKnown } }

    /// Resumes the continuation once the outcome is known; called once.
    @inline(never)
    func wake(_ continuation: UnsafeContinuation<Void, Never>) {
        if content.withLock({ $0.awaited.await(continuation) }) { continuation.resume() }
    }

    /// The outcome, if it is known.
    ///
    /// It can be taken once.
    func takeOutcome() -> Result<AtomResponse, AtomError>? {
        content.withLock { $0.awaited.take() }
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
