import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Converts a session's callbacks to the events of each exchange.
///
/// All callbacks and all cancellations run on one serial queue. On Linux a task
/// that is cancelled while it completes traps (it is removed from its session
/// twice). Here a task is cancelled only between two callbacks, and only while
/// it has not completed.
final class ExchangeDelegate: NSObject, @unchecked Sendable {
    /// The session's delegate queue.
    let queue = CallbackQueue()
    private let challenges: ChallengeAnswer

    init(challenges: ChallengeAnswer = .system) {
        self.challenges = challenges
    }

    private struct State {
        /// By the identifiers of their tasks, until the tasks have completed.
        var exchanges: [Int: DataTaskExchange] = [:]
        /// How many exchanges have been deferred and not started yet.
        var startsPending = 0
        var protocols = NegotiatedProtocols()
    }

    // The state of the exchanges is accessed under this lock too; `queue` is
    // thread-safe.
    private let state = Guarded(State())

    /// The number of exchanges that have not ended yet.
    var count: Int { state.withLock { $0.exchanges.count + $0.startsPending } }

    /// Decides where an exchange is started; called once for each.
    ///
    /// - Returns: Whether the start is deferred, because other exchanges are on
    ///   the wire or about to start.
    func putsOffStart() -> Bool {
        state.withLock { state in
            if state.exchanges.isEmpty, state.startsPending == 0 { return false }
            state.startsPending += 1
            return true
        }
    }

    /// Creates and resumes the task of an exchange that isn't shared yet.
    func start(_ exchange: DataTaskExchange, _ request: URLRequest, in session: URLSession) {
        LoadingThread.shared.call {
            let task = session.dataTask(with: request)
            state.withLock { state in
                exchange.task = task
                state.exchanges[task.taskIdentifier] = exchange
            }
            task.resume()
        }
    }

    /// An exchange will be started later.
    func isExpected(_ exchange: DataTaskExchange) {
        state.withLock { $0.startsPending += 1 }
    }

    /// The body of an exchange is being written to a file.
    func isPreparing(_ exchange: DataTaskExchange, stop: @escaping @Sendable () -> Void) {
        let isCancelled = state.withLock { _ in
            if !exchange.isPrepared { exchange.stopPreparing = stop }
            return exchange.isCancelled
        }
        if isCancelled { stop() }
    }

    /// The body has been written, or could not be.
    func hasPrepared(_ exchange: DataTaskExchange) {
        state.withLock { _ in
            exchange.isPrepared = true
            // It keeps the exchange.
            exchange.stopPreparing = nil
        }
    }

    /// The body could not be read, which ends the exchange soon.
    func bodyHasFailed(_ exchange: DataTaskExchange, _ error: AtomError) {
        state.withLock { _ in exchange.bodyFailure = error }
    }

    /// Sends an event of the transport's own.
    func tell(_ exchange: DataTaskExchange, _ event: TransportEvent) {
        queue.addOwn { exchange.receive(event) }
    }

    /// Ends an exchange that was to be started later.
    func failUnstarted(_ exchange: DataTaskExchange, _ failure: TransportFailure) {
        state.withLock { $0.startsPending -= 1 }
        tell(exchange, .failed(failure))
    }

    /// Starts a deferred exchange, unless it has been cancelled.
    ///
    /// - Parameter file: The body, if it isn't in the request.
    func startLater(
        _ exchange: DataTaskExchange, _ request: URLRequest, fromFile file: URL? = nil, in session: URLSession
    ) {
        guard state.withLock({ _ in !exchange.isCancelled }) else {
            return failUnstarted(exchange, TransportFailure(URLError(.cancelled), delivery: .notSent))
        }
        let task = LoadingThread.shared.call {
            let task =
                if let file {
                    session.uploadTask(with: request, fromFile: file)
                } else {
                    session.dataTask(with: request)
                }
            state.withLock { $0.exchanges[task.taskIdentifier] = exchange }
            task.resume()
            return task
        }
        let isCancelled = state.withLock { state in
            // Only a resumed task can be cancelled.
            exchange.task = task
            // Not earlier: until here new exchanges are deferred too, or one
            // could overtake this one.
            state.startsPending -= 1
            return exchange.isCancelled
        }
        if isCancelled { cancel(exchange) }
    }

    /// Cancels the task soon, unless it completes before.
    func cancel(_ exchange: DataTaskExchange) {
        let stop = state.withLock { _ in
            exchange.isCancelled = true
            return exchange.stopPreparing.take()
        }
        stop?()
        // Before the waiting callbacks: on Linux nothing limits the server, and
        // after the callbacks the whole of a body that is too large would have
        // been read.
        queue.addUrgent { [self] in
            let task = state.withLock { state -> URLSessionTask? in
                guard let task = exchange.task, state.exchanges[task.taskIdentifier] === exchange else { return nil }
                return task
            }
            if let task { LoadingThread.shared.call { task.cancel() } }
        }
    }

    #if !canImport(FoundationNetworking)
        /// Suspends the task, which lets the system stop reading.
        func suspend(_ exchange: DataTaskExchange) -> Bool {
            guard let task = state.withLock({ _ in exchange.task }) else { return false }
            task.suspend()
            return true
        }

        /// Resumes a suspended task.
        func goOn(_ exchange: DataTaskExchange) {
            state.withLock { _ in exchange.task }?.resume()
        }
    #endif

    private func trace(of exchange: DataTaskExchange, _ task: URLSessionTask) -> RequestTrace {
        #if canImport(FoundationNetworking)
            .unknown
        #else
            RequestTrace(state.withLock { _ in exchange.metrics }, of: task)
        #endif
    }

    /// How many exchanges make sense at once with the server of a task, as far
    /// as that is known.
    private func exchangesAtOnce(with task: URLSessionTask) -> Int? {
        #if canImport(FoundationNetworking)
            nil
        #else
            state.withLock { $0.protocols.exchanges(with: task.originalRequest?.url) }
        #endif
    }

    private func receiver(of task: URLSessionTask) -> (@Sendable (TransportEvent) -> Void)? {
        state.withLock { $0.exchanges[task.taskIdentifier]?.receive }
    }
}

extension ExchangeDelegate: URLSessionDataDelegate {
    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        #if canImport(FoundationNetworking)
            // A task that was cancelled while this callback waited expects no
            // response and traps on one.
            let isExpected = state.withLock { $0.exchanges[task.taskIdentifier]?.isCancelled == false }
            guard isExpected else { return }
        #endif
        completionHandler(nil)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        #if canImport(FoundationNetworking)
            // Everything else hangs or traps here. Head and body have arrived;
            // the task ends as cancelled.
            state.withLock { $0.exchanges[task.taskIdentifier]?.isChallenged = true }
            completionHandler(.cancelAuthenticationChallenge, nil)
        #else
            challenges.answer(challenge, completionHandler)
        #endif
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        // On Linux interim responses (103 Early Hints, RFC 8297) arrive here
        // too.
        if let response = response as? HTTPURLResponse, response.isFinal {
            let receive = state.withLock { state in
                let exchange = state.exchanges[dataTask.taskIdentifier]
                exchange?.statusCode = response.statusCode
                exchange?.missing = response.lengthOfBody
                return exchange?.receive
            }
            receive?(.response(TransportResponse(response, exchangesPerOrigin: exchangesAtOnce(with: dataTask))))
        }
        completionHandler(.allow)
        endIfAnswered(dataTask)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        receiver(of: dataTask)?(.data(data))
        endIfAnswered(dataTask, after: data.count)
    }

    /// Ends a task whose response is complete, although the server has not read
    /// the whole body, and may never do so.
    private func endIfAnswered(_ task: URLSessionTask, after count: Int = 0) {
        let early = state.withLock { state -> DataTaskExchange? in
            guard let exchange = state.exchanges[task.taskIdentifier], let missing = exchange.missing else {
                return nil
            }
            exchange.missing = missing - Int64(count)
            guard missing <= count, exchange.sent < task.lengthOfBody else { return nil }
            exchange.isAnsweredEarly = true
            return exchange
        }
        if let early { cancel(early) }
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) {
        state.withLock { $0.exchanges[task.taskIdentifier]?.sent += bytesSent }
        receiver(of: task)?(.sent(Int(clamping: bytesSent)))
    }

    #if !canImport(FoundationNetworking)
        /// Called before the end of the task.
        func urlSession(
            _ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics
        ) {
            state.withLock { state in
                state.exchanges[task.taskIdentifier]?.metrics = metrics
                state.protocols.note(
                    metrics.transactionMetrics.last?.networkProtocolName, of: task.originalRequest?.url)
            }
        }
    #endif

    #if canImport(FoundationNetworking)
        /// The server closed a kept-alive connection without a response.
        ///
        /// libcurl repeats the request on another connection and needs the body
        /// from its beginning. Foundation doesn't provide it for a body that is
        /// not a stream: the server would wait for the body until the idle
        /// timeout. libcurl also can't know whether the request may be sent
        /// twice (RFC 9110 §9.2.2).
        func urlSession(
            _ session: URLSession, task: URLSessionTask,
            needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
        ) {
            let exchange = state.withLock { state in
                let exchange = state.exchanges[task.taskIdentifier]
                exchange?.isBodyLost = true
                return exchange
            }
            // All sessions of the process wait for this thread, also the
            // cancellation, which runs on another thread.
            completionHandler(nil)
            if let exchange { cancel(exchange) }
        }
    #endif

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        struct End {
            let exchange: DataTaskExchange
            let hasResponse: Bool
            let isRefused: Bool
            let isBodyLost: Bool
            let isAnsweredEarly: Bool
            let bodyFailure: AtomError?
        }
        let ended = state.withLock { state -> End? in
            guard let exchange = state.exchanges.removeValue(forKey: task.taskIdentifier) else { return nil }
            let hasResponse = exchange.statusCode != nil
            // A temporary file isn't needed any more.
            exchange.spooledBody = nil
            // Evaluated here: the exchange can still be cancelled, but that has
            // no effect any more.
            return End(
                exchange: exchange, hasResponse: hasResponse,
                isRefused: hasResponse && exchange.isChallenged && !exchange.isCancelled,
                isBodyLost: exchange.isBodyLost && !hasResponse,
                isAnsweredEarly: exchange.isAnsweredEarly,
                bodyFailure: exchange.isCancelled ? nil : exchange.bodyFailure)
        }
        guard let ended else { return }
        let (exchange, hasResponse) = (ended.exchange, ended.hasResponse)
        #if !canImport(FoundationNetworking)
            let metrics = state.withLock { _ in exchange.wantsMetrics ? exchange.metrics : nil }
            let measured = metrics?.transactionMetrics.last.map {
                TransportEvent.measured(TransactionTimes($0).metrics)
            }
        #else
            // On Linux there are no metrics.
            let measured: TransportEvent? = nil
        #endif
        guard let error else {
            // On Linux the head of a redirect without a valid target stays in
            // the task, and its body is lost.
            if !hasResponse, let response = task.response as? HTTPURLResponse, response.isFinal {
                exchange.receive(.response(TransportResponse(response)))
            }
            if let measured { exchange.receive(measured) }
            exchange.receive(.finished)
            return
        }
        if let measured { exchange.receive(measured) }
        if let failure = ended.bodyFailure {
            let delivery = hasResponse ? AtomError.Delivery.answered : failure.delivery
            exchange.receive(.failed(TransportFailure(failure, delivery: delivery)))
        } else if ended.isRefused || ended.isAnsweredEarly {
            exchange.receive(.finished)
        } else {
            // A caller that also cancelled the exchange doesn't get this error.
            let error = ended.isBodyLost ? URLError(.networkConnectionLost) : error
            let isSecure = task.originalRequest?.url?.scheme == "https"
            let failure = WireFailure(
                error: error, hasResponse: hasResponse, isSecure: isSecure, trace: trace(of: exchange, task))
            exchange.receive(.failed(failure.transportFailure))
        }
    }
}

extension HTTPURLResponse {
    /// Whether this is the last head of the exchange (RFC 9110 §15.2).
    fileprivate var isFinal: Bool { statusCode >= 200 || statusCode == 101 }

    /// How many bytes Foundation hands over; `nil` if that isn't known.
    fileprivate var lengthOfBody: Int64? {
        if statusCode == 204 || statusCode == 304 { return 0 }
        let isEncoded = value(forHTTPHeaderField: "Content-Encoding") != nil
        return isEncoded || expectedContentLength < 0 ? nil : expectedContentLength
    }
}

extension URLSessionTask {
    /// The length of the request's body; on Linux a task doesn't know it by
    /// itself.
    fileprivate var lengthOfBody: Int64 {
        let request = originalRequest
        if let body = request?.httpBody { return Int64(body.count) }
        return request?.value(forHTTPHeaderField: "Content-Length").flatMap { Int64($0) } ?? countOfBytesExpectedToSend
    }
}

extension TransportResponse {
    /// Copies the fields that Foundation parsed.
    ///
    /// Foundation has joined repeats with a comma, which changes the meaning
    /// only for `Set-Cookie` (RFC 9110 §5.3).
    fileprivate init(_ response: HTTPURLResponse, exchangesPerOrigin: Int? = nil) {
        // Read once: on Linux each access converts the dictionary.
        let received = response.allHeaderFields
        var fields: [HeaderFields.Field] = []
        fields.reserveCapacity(received.count)
        for (name, value) in received {
            // Cast to the concrete type: as an AnyHashable, a name takes three
            // times as long to compare.
            guard let name = name.base as? String, let value = value as? String else { continue }
            if HeaderFields.isSameName(name, "Set-Cookie") {
                for cookie in JoinedSetCookies.lines(in: value) {
                    fields.append(HeaderFields.Field(name: name, value: cookie))
                }
            } else {
                fields.append(HeaderFields.Field(name: name, value: value))
            }
        }
        // Foundation's dictionary has no order; a stable order makes logs and
        // tests readable.
        fields.sort { $0.name < $1.name }
        self.init(
            statusCode: response.statusCode, headerFields: HeaderFields(fields),
            exchangesPerOrigin: exchangesPerOrigin)
    }
}
