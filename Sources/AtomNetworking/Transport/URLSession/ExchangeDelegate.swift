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
    private let challenges: ChallengeDisposition

    init(challenges: ChallengeDisposition = .system) {
        self.challenges = challenges
    }

    // The exchanges, by the identifiers of their tasks, until the tasks have
    // completed. Much of an exchange is accessed under this lock too.
    private let exchanges = Guarded<[Int: DataTaskExchange]>([:])

    #if !canImport(FoundationNetworking)
        // Used on `queue` alone.
        private var protocols = NegotiatedProtocols()
    #endif

    /// The number of tasks that have not completed yet.
    var count: Int { exchanges.withLock { $0.count } }

    /// Creates and resumes the task of an exchange, unless it has been
    /// cancelled.
    ///
    /// - Parameter file: The body, if it isn't in the request.
    func start(
        _ exchange: DataTaskExchange, _ request: URLRequest, fromFile file: URL? = nil, in session: URLSession
    ) {
        guard exchanges.withLock({ _ in !exchange.isCancelled }) else {
            return tell(exchange, .failed(TransportFailure(URLError(.cancelled), delivery: .notSent)))
        }
        queue.call {
            let task =
                if let file {
                    session.uploadTask(with: request, fromFile: file)
                } else {
                    session.dataTask(with: request)
                }
            exchanges.withLock { exchanges in
                exchange.task = task
                exchanges[task.taskIdentifier] = exchange
            }
            task.resume()
        }
        let isCancelled = exchanges.withLock { _ in
            exchange.isResumed = true
            return exchange.isCancelled
        }
        if isCancelled { cancel(exchange) }
    }

    /// The body could not be read, which ends the exchange soon.
    func bodyHasFailed(_ exchange: DataTaskExchange, _ error: AtomError) {
        exchanges.withLock { _ in exchange.bodyFailure = error }
    }

    /// Sends an event of the transport's own.
    func tell(_ exchange: DataTaskExchange, _ event: TransportEvent) {
        queue.addOwn { exchange.receive(event) }
    }

    /// Cancels the task soon, unless it completes before.
    func cancel(_ exchange: DataTaskExchange) {
        let body = exchanges.withLock { _ in
            exchange.isCancelled = true
            return exchange.spooledBody
        }
        body?.stop()
        // Before the waiting callbacks: on Linux nothing limits the server, and
        // after the callbacks the whole of a body that is too large would have
        // been read.
        queue.addUrgent { [self] in
            let task = exchanges.withLock { exchanges -> URLSessionTask? in
                guard exchange.isResumed, let task = exchange.task, exchanges[task.taskIdentifier] === exchange else {
                    return nil
                }
                return task
            }
            if let task { queue.call { task.cancel() } }
        }
    }

    #if !canImport(FoundationNetworking)
        /// Suspends the task, which lets the system stop reading.
        func suspend(_ exchange: DataTaskExchange) -> Bool {
            guard let task = exchanges.withLock({ _ in exchange.task }) else { return false }
            task.suspend()
            return true
        }

        /// Resumes a suspended task.
        func goOn(_ exchange: DataTaskExchange) {
            exchanges.withLock { _ in exchange.task }?.resume()
        }
    #endif

    private func exchange(of task: URLSessionTask) -> DataTaskExchange? {
        exchanges.withLock { $0[task.taskIdentifier] }
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
            let isExpected = exchanges.withLock { $0[task.taskIdentifier]?.isCancelled == false }
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
            exchange(of: task)?.isChallenged = true
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
            let exchange = exchange(of: dataTask)
            exchange?.statusCode = response.statusCode
            exchange?.missing = response.lengthOfBody
            #if canImport(FoundationNetworking)
                let exchangesAtOnce: Int? = nil
            #else
                let exchangesAtOnce = protocols.exchanges(with: dataTask.originalRequest?.url)
            #endif
            exchange?.receive(.response(TransportResponse(response, exchangesPerOrigin: exchangesAtOnce)))
        }
        completionHandler(.allow)
        endIfAnswered(dataTask)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        exchange(of: dataTask)?.receive(.data(data))
        endIfAnswered(dataTask, after: data.count)
    }

    /// Ends a task whose response is complete, although the server has not read
    /// the whole body, and may never do so.
    private func endIfAnswered(_ task: URLSessionTask, after count: Int = 0) {
        guard let exchange = exchange(of: task), let missing = exchange.missing else { return }
        exchange.missing = missing - Int64(count)
        guard missing <= count, exchange.sent < task.lengthOfBody else { return }
        exchange.isAnsweredEarly = true
        cancel(exchange)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) {
        let exchange = exchange(of: task)
        exchange?.sent += bytesSent
        exchange?.receive(.sent(Int(clamping: bytesSent)))
    }

    #if !canImport(FoundationNetworking)
        /// Called before the end of the task.
        func urlSession(
            _ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics
        ) {
            exchange(of: task)?.metrics = metrics
            protocols.note(metrics.transactionMetrics.last?.networkProtocolName, of: task.originalRequest?.url)
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
            let exchange = exchanges.withLock { exchanges in
                let exchange = exchanges[task.taskIdentifier]
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
        guard let exchange = exchanges.withLock({ $0.removeValue(forKey: task.taskIdentifier) }) else { return }
        let hasResponse = exchange.statusCode != nil
        // A temporary file isn't needed any more, and is removed outside the lock.
        _ = exchanges.withLock { _ in exchange.spooledBody.take() }
        let (isCancelled, isBodyLost, bodyFailure) = exchanges.withLock { _ in
            // Evaluated here: the exchange can still be cancelled, but that has
            // no effect any more.
            return (exchange.isCancelled, exchange.isBodyLost && !hasResponse, exchange.bodyFailure)
        }
        // On Linux the head of a redirect without a valid target stays in the
        // task, and its body is lost.
        if error == nil, !hasResponse, let response = task.response as? HTTPURLResponse, response.isFinal {
            exchange.receive(.response(TransportResponse(response)))
        }
        var trace = RequestTrace.unknown
        #if !canImport(FoundationNetworking)
            trace = RequestTrace(exchange.metrics, of: task)
            if exchange.wantsMetrics, let last = exchange.metrics?.transactionMetrics.last {
                exchange.receive(.measured(TransactionTimes(last).metrics))
            }
        #endif
        guard let error else { return exchange.receive(.finished) }
        if let bodyFailure, !isCancelled {
            let delivery = hasResponse ? AtomError.Delivery.answered : bodyFailure.delivery
            exchange.receive(.failed(TransportFailure(bodyFailure, delivery: delivery)))
        } else if exchange.isAnsweredEarly || hasResponse && exchange.isChallenged && !isCancelled {
            exchange.receive(.finished)
        } else {
            // A caller that also cancelled the exchange doesn't get this error.
            let failure = WireFailure(
                error: isBodyLost ? URLError(.networkConnectionLost) : error, hasResponse: hasResponse,
                isSecure: task.originalRequest?.url?.scheme == "https", trace: trace)
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
        var fields: [HeaderItem] = []
        for (name, value) in response.allHeaderFields {
            guard let name = name as? String, let value = value as? String else { continue }
            if HeaderFields.isSameName(name, "Set-Cookie") {
                for cookie in JoinedSetCookies.lines(in: value) {
                    fields.append(HeaderItem(name: name, value: cookie))
                }
            } else {
                fields.append(HeaderItem(name: name, value: value))
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
