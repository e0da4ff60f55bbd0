import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Converts a session's callbacks to the events of each exchange.
///
/// Callbacks and cancellations run on one serial queue: on Linux a task that is cancelled while it completes traps.
final class ExchangeDelegate: NSObject, @unchecked Sendable {
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

    /// Creates and resumes the task of an exchange, unless it was cancelled; with the body of a file, if there is one.
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
                exchange.session = session
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
        queue.add { exchange.pass(event) }
    }

    /// Cancels the task soon, unless it completes before.
    func cancel(_ exchange: DataTaskExchange) {
        let body = exchanges.withLock { _ in
            exchange.isCancelled = true
            return exchange.spooledBody
        }
        body?.stop()
        // Before the waiting callbacks, or a body that is too large would be read on.
        queue.add(isUrgent: true) { [self] in
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
        /// Changes the task, if it has been started; suspended, the system stops reading.
        func change(_ exchange: DataTaskExchange, _ change: (URLSessionTask) -> Void) -> Bool {
            exchanges.withLock { _ in exchange.task }.map(change) != nil
        }
    #endif

    fileprivate func session(of exchange: DataTaskExchange) -> URLSession? {
        exchanges.withLock { _ in exchange.session }
    }

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
            // A task that was cancelled meanwhile expects no response and traps on one.
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
            // All else hangs or traps. The response is there; the task ends as cancelled.
            exchange(of: task)?.isChallenged = true
            completionHandler(.cancelAuthenticationChallenge, nil)
        #else
            let method = challenge.protectionSpace.authenticationMethod
            challenges.answer(challenge) { [self] disposition, credential in
                if disposition == .cancelAuthenticationChallenge { isRefused(task, method) }
                completionHandler(disposition, credential)
            }
        #endif
    }

    #if !canImport(FoundationNetworking)
        /// The app doesn't want the connection: the task will end as if it had been cancelled.
        private func isRefused(_ task: URLSessionTask, _ method: String) {
            let code: URLError.Code =
                switch method {
                case NSURLAuthenticationMethodServerTrust: .serverCertificateUntrusted
                case NSURLAuthenticationMethodClientCertificate: .clientCertificateRequired
                default: .userAuthenticationRequired
                }
            let text = "the app refused the challenge \(method)"
            let error = URLError(code, userInfo: [NSLocalizedDescriptionKey: text])
            exchanges.withLock { $0[task.taskIdentifier]?.refusal = error }
        }
    #endif

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        // On Linux interim responses (RFC 8297) arrive here too.
        if let response = response as? HTTPURLResponse, response.isFinal, let exchange = exchange(of: dataTask) {
            #if canImport(FoundationNetworking)
                let exchangesAtOnce: Int? = nil
            #else
                let exchangesAtOnce = protocols.exchanges(with: dataTask.originalRequest?.url)
            #endif
            exchange.pass(response, exchangesPerOrigin: exchangesAtOnce)
            if exchange.fault != nil { cancel(exchange) }
        }
        completionHandler(.allow)
        endIfAnswered(dataTask)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        guard let exchange = exchange(of: dataTask), exchange.fault == nil else { return }
        exchange.pass(.data(data))
        endIfAnswered(dataTask, after: data.count)
    }

    /// Ends a task with a whole response: the server may never read the rest.
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
        exchange?.pass(.sent(Int(clamping: bytesSent)))
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
        /// libcurl repeats the request, although it can't know whether that is allowed (RFC 9110 §9.2.2), and the
        /// server would wait for a body that Foundation doesn't provide again.
        func urlSession(
            _ session: URLSession, task: URLSessionTask,
            needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
        ) {
            let exchange = exchanges.withLock { exchanges in
                let exchange = exchanges[task.taskIdentifier]
                exchange?.isBodyLost = true
                return exchange
            }
            // All sessions wait for this thread, also the cancellation.
            completionHandler(nil)
            if let exchange { cancel(exchange) }
        }
    #endif

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        guard let exchange = exchanges.withLock({ $0.removeValue(forKey: task.taskIdentifier) }) else { return }
        let hasResponse = exchange.statusCode != nil
        // A temporary file isn't needed any more, and is removed outside the lock.
        _ = exchanges.withLock { _ in exchange.spooledBody.take() }
        // A later cancellation has no effect any more.
        let (isCancelled, isBodyLost, bodyFailure, refusal) = exchanges.withLock { _ in
            (exchange.isCancelled, exchange.isBodyLost && !hasResponse, exchange.bodyFailure, exchange.refusal)
        }
        // On Linux a redirect without a valid target is only here, without its body.
        if error == nil, !hasResponse, let response = task.response as? HTTPURLResponse, response.isFinal {
            exchange.pass(response)
        }
        var trace = RequestTrace.unknown
        #if !canImport(FoundationNetworking)
            trace = RequestTrace(exchange.metrics, of: task)
            if exchange.wantsMetrics, let last = exchange.metrics?.transactionMetrics.last {
                exchange.pass(.measured(TransportMetrics(last)))
            }
        #endif
        if let fault = exchange.fault {
            let failure = WireProblem.unreadableHead(fault).failure(
                delivery: .answered, underlying: URLError(.cannotParseResponse))
            return exchange.pass(.failed(failure))
        }
        guard let error else { return exchange.pass(.finished) }
        if let bodyFailure, !isCancelled {
            let delivery = hasResponse ? AtomError.Delivery.answered : bodyFailure.delivery
            exchange.pass(.failed(TransportFailure(bodyFailure, delivery: delivery)))
        } else if exchange.isAnsweredEarly || hasResponse && exchange.isChallenged && !isCancelled {
            exchange.pass(.finished)
        } else {
            // A caller that also cancelled the exchange doesn't get this error. A later connection may have been accepted.
            let refused = isCancelled || (error as? URLError)?.code != .cancelled ? nil : refusal
            let failure = WireFailure(
                error: isBodyLost ? URLError(.networkConnectionLost) : refused ?? error,
                hasResponse: hasResponse,
                isSecure: task.originalRequest?.url?.scheme == "https", trace: trace)
            exchange.pass(.failed(failure.transportFailure))
        }
    }
}

extension HTTPURLResponse {
    /// Whether this is the last head of the exchange (RFC 9110 §15.2).
    fileprivate var isFinal: Bool { statusCode >= 200 || statusCode == 101 }

    /// Why it isn't known where the body ends or how it is coded (RFC 9112 §6), in the words of `ResponseHead`.
    var fault: String? {
        let blanks = CharacterSet(charactersIn: " \t")
        if let value = value(forHTTPHeaderField: "Content-Length") {
            let numbers = value.split(separator: ",", omittingEmptySubsequences: false).map { member in
                let digits = member.trimmingCharacters(in: blanks)
                return digits.hasPrefix("+") || digits.hasPrefix("-") ? nil : Int64(digits)
            }
            guard let first = numbers[0], numbers.allSatisfy({ $0 == first }) else {
                return "Content-Length is not one number"
            }
        }
        guard let coding = value(forHTTPHeaderField: "Transfer-Encoding")?.trimmingCharacters(in: blanks).lowercased(),
            coding != "chunked"
        else { return nil }
        #if canImport(FoundationNetworking)
            let hasOtherEnd = value(forHTTPHeaderField: "Content-Length") != nil
        #else
            // The system says `identity` of a body that it has decoded.
            let hasOtherEnd = false
        #endif
        return coding == "identity" && !hasOtherEnd ? nil : "it has a transfer coding other than “chunked”"
    }

    /// How many bytes Foundation hands over; `nil` if that isn't known.
    fileprivate var lengthOfBody: Int64? {
        if statusCode == 204 || statusCode == 304 { return 0 }
        let isEncoded = value(forHTTPHeaderField: "Content-Encoding") != nil
        return isEncoded || expectedContentLength < 0 ? nil : expectedContentLength
    }
}

extension URLSessionTask {
    /// The length of the request's body, which on Linux no task knows.
    fileprivate var lengthOfBody: Int64 {
        let request = originalRequest
        if let body = request?.httpBody { return Int64(body.count) }
        return request?.value(forHTTPHeaderField: "Content-Length").flatMap { Int64($0) } ?? countOfBytesExpectedToSend
    }
}

extension TransportResponse {
    /// Copies the fields that Foundation parsed and joined, which breaks only `Set-Cookie` (RFC 9110 §5.3).
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
        // Foundation's dictionary has no order, which logs and tests want.
        fields.sort { $0.name < $1.name }
        self.init(
            statusCode: response.statusCode, headerFields: HeaderFields(fields),
            exchangesPerOrigin: exchangesPerOrigin)
    }
}

/// One exchange of a session, until its task has completed.
final class DataTaskExchange: TransportExchange, @unchecked Sendable {
    /// How many bytes may wait for the receiver until the system stops reading.
    private static let maximumBacklog = 1 << 20

    private struct Backlog {
        var size = 0
        var isFull = false
    }

    let delegate: ExchangeDelegate
    let wantsMetrics: Bool
    /// Used on `delivery`, until the last event: a receiver may hold the exchange.
    private var receive: (@Sendable (TransportEvent) -> Void)?
    /// Apart from the delegate's queue, which all exchanges share: a disk or code of the app may hold it up.
    private let delivery = DispatchQueue(label: "AtomNetworking.URLSessionTransport", qos: .userInitiated)
    private let backlog = Guarded(Backlog())

    // These are accessed only under the delegate's lock.
    /// The task; `nil` until the exchange has been started.
    var task: URLSessionTask?
    weak var session: URLSession?
    /// Whether the task may be cancelled.
    var isResumed = false
    var isCancelled = false
    /// The file that is written and then sent, until the end.
    var spooledBody: SpooledBody?
    var bodyFailure: AtomError?
    /// Why the app refused the connection.
    var refusal: URLError?

    /// Whether the connection was lost, and the body can't be sent again.
    var isBodyLost = false

    // These are accessed only on the delegate's queue.
    var statusCode: Int?
    /// Why the response is refused.
    private(set) var fault: String?
    /// How many bytes of the response's body are still to come, if known.
    var missing: Int64?
    var sent: Int64 = 0
    /// Whether the server has answered in full before it has read the body.
    var isAnsweredEarly = false
    var isChallenged = false
    #if !canImport(FoundationNetworking)
        var metrics: URLSessionTaskMetrics?
    #endif

    init(
        _ delegate: ExchangeDelegate, wantsMetrics: Bool = false,
        receive: @escaping @Sendable (TransportEvent) -> Void
    ) {
        self.delegate = delegate
        self.wantsMetrics = wantsMetrics
        self.receive = receive
    }

    func cancel() {
        delegate.cancel(self)
    }

    /// Passes the head of the final response on, unless it is refused; called on the delegate's queue.
    func pass(_ response: HTTPURLResponse, exchangesPerOrigin: Int? = nil) {
        // Apple platforms also make one of each part of a `multipart/x-mixed-replace`.
        guard statusCode == nil, fault == nil else { return }
        fault = response.fault
        guard fault == nil else { return }
        statusCode = response.statusCode
        missing = response.lengthOfBody
        pass(.response(TransportResponse(response, exchangesPerOrigin: exchangesPerOrigin)))
    }

    /// Passes an event on, after those before it; called on the delegate's queue.
    func pass(_ event: TransportEvent) {
        // Each counts, so that `isBehind` is true until `receive` has returned.
        let size = if case .data(let part) = event { part.count } else { 1 }
        let isFull = backlog.withLock { backlog in
            backlog.size += size
            guard !backlog.isFull, backlog.size > Self.maximumBacklog else { return false }
            backlog.isFull = true
            return true
        }
        delivery.async { [self] in
            switch event {
            case .finished, .failed: receive.take()?(event)
            case .response, .data, .sent, .measured: receive?(event)
            }
            let goesOn = backlog.withLock { backlog in
                backlog.size -= size
                guard backlog.isFull, backlog.size <= Self.maximumBacklog / 4 else { return false }
                backlog.isFull = false
                return true
            }
            if goesOn { goOn() }
        }
        if isFull { holdBack() }
    }

    var isBehind: Bool { backlog.withLock { $0.size > 0 } }

    /// Many times: the system notices a socket a little later than a timer.
    func catchUp(_ done: @escaping @Sendable () -> Void) { passQueues(times: 20, done) }

    /// Goes through the queues of the session, where what has arrived waits, and then through that of the events.
    private func passQueues(times: Int, _ done: @escaping @Sendable () -> Void) {
        guard times > 0, let session = delegate.session(of: self) else { return delivery.async(execute: done) }
        session.getAllTasks { [self] _ in passQueues(times: times - 1, done) }
    }

    #if canImport(FoundationNetworking)
        /// Lets the session wait: a suspended task would lose its connection.
        private func holdBack() { delivery.sync {} }

        private func goOn() {}
    #else
        private func holdBack() { _ = pause() }

        /// Not before the call of `holdBack`, which runs on this queue.
        private func goOn() { delegate.queue.add { [self] in resume() } }

        func pause() -> Bool { delegate.change(self) { $0.suspend() } }

        func resume() { _ = delegate.change(self) { $0.resume() } }
    #endif
}

#if !canImport(FoundationNetworking)
    extension TransportMetrics {
        init(_ transaction: URLSessionTaskTransactionMetrics) {
            func moment(_ date: Date?) -> Duration? { date.map { .seconds($0.timeIntervalSinceReferenceDate) } }
            networkProtocol = transaction.networkProtocolName
            // Without a connection it is neither.
            isConnectionReused = transaction.isReusedConnection ? true : transaction.connectStartDate.map { _ in false }
            remoteAddress = transaction.remoteAddress
            remotePort = transaction.remotePort
            measure(
                domainLookup: (moment(transaction.domainLookupStartDate), moment(transaction.domainLookupEndDate)),
                connect: (moment(transaction.connectStartDate), moment(transaction.connectEndDate)),
                secureConnection: (
                    moment(transaction.secureConnectionStartDate), moment(transaction.secureConnectionEndDate)
                ),
                requestStart: moment(transaction.requestStartDate),
                response: (moment(transaction.responseStartDate), moment(transaction.responseEndDate)))
        }
    }
#endif
