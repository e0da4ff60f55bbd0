import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Turns a session's callbacks into the events of each exchange.
///
/// All callbacks and all cancellations run on one serial queue. On Linux a
/// task that is cancelled while it completes traps (it is removed from its
/// session twice); here a task is only ever cancelled between two callbacks,
/// and only while it has not completed.
final class ExchangeDelegate: NSObject, @unchecked Sendable {
    /// What is known of one task.
    private struct Entry {
        let task: URLSessionTask
        let receive: @Sendable (TransportEvent) -> Void
        var statusCode: Int?
        var isCancelled = false
        var isChallenged = false
    }

    /// The session's delegate queue.
    let queue: OperationQueue = {
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 1
        queue.name = "AtomNetworking.URLSessionTransport"
        return queue
    }()

    // `entries` is touched under `lock` only; `queue` is thread-safe.
    private let lock = NSLock()
    private var entries: [Int: Entry] = [:]

    /// How many exchanges have not ended yet.
    var count: Int { lock.withLock { entries.count } }

    /// Notes a task before it is resumed.
    func insert(_ task: URLSessionTask, receive: @escaping @Sendable (TransportEvent) -> Void) {
        lock.withLock { entries[task.taskIdentifier] = Entry(task: task, receive: receive) }
    }

    /// Cancels the task soon, if it has not completed by then.
    func cancel(_ identifier: Int) {
        queue.addOperation { [self] in
            let task = lock.withLock { () -> URLSessionTask? in
                entries[identifier]?.isCancelled = true
                return entries[identifier]?.task
            }
            task?.cancel()
        }
    }

    private func receiver(of task: URLSessionTask) -> (@Sendable (TransportEvent) -> Void)? {
        lock.withLock { entries[task.taskIdentifier]?.receive }
    }
}

extension ExchangeDelegate: URLSessionDataDelegate {
    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        completionHandler(nil)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        #if canImport(FoundationNetworking)
            // Anything else hangs or traps here. Head and body have arrived; the task ends as cancelled.
            lock.withLock { entries[task.taskIdentifier]?.isChallenged = true }
            completionHandler(.cancelAuthenticationChallenge, nil)
        #else
            // Trust is the system's to judge; without a stored credential a 401 comes back as it is.
            completionHandler(.performDefaultHandling, nil)
        #endif
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        if let response = response as? HTTPURLResponse {
            let receive = lock.withLock { () -> (@Sendable (TransportEvent) -> Void)? in
                entries[dataTask.taskIdentifier]?.statusCode = response.statusCode
                return entries[dataTask.taskIdentifier]?.receive
            }
            receive?(.response(TransportResponse(response)))
        }
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        receiver(of: dataTask)?(.data(data))
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) {
        receiver(of: task)?(.sent(Int(bytesSent)))
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        guard let entry = lock.withLock({ entries.removeValue(forKey: task.taskIdentifier) }) else { return }
        guard let error else {
            entry.receive(.finished)
            return
        }
        if entry.isChallenged, !entry.isCancelled, entry.statusCode != nil {
            entry.receive(.finished)
        } else {
            let isSecure = task.originalRequest?.url?.scheme == "https"
            entry.receive(
                .failed(
                    WireFailure(error: error, hasResponse: entry.statusCode != nil, isSecure: isSecure)
                        .transportFailure))
        }
    }
}

extension TransportResponse {
    /// Copies what Foundation parsed; repeats have been joined by it.
    fileprivate init(_ response: HTTPURLResponse) {
        var fields: [HeaderFields.Field] = []
        fields.reserveCapacity(response.allHeaderFields.count)
        for (name, value) in response.allHeaderFields {
            if let name = name as? String, let value = value as? String {
                fields.append(HeaderFields.Field(name: name, value: value))
            }
        }
        // Foundation's dictionary has no order; a stable one makes logs and tests readable.
        fields.sort { $0.name < $1.name }
        self.init(statusCode: response.statusCode, headerFields: HeaderFields(fields))
    }
}
