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
    private final class Entry {
        let task: URLSessionTask
        let receive: @Sendable (TransportEvent) -> Void
        // These are touched under the delegate's lock only, as long as the entry is in its table.
        var statusCode: Int?
        var isCancelled = false
        var isChallenged = false

        init(_ task: URLSessionTask, _ receive: @escaping @Sendable (TransportEvent) -> Void) {
            self.task = task
            self.receive = receive
        }
    }

    /// The session's delegate queue.
    let queue = CallbackQueue()

    // `entries` is touched under `lock` only; `queue` is thread-safe.
    private let lock = NSLock()
    private var entries: [Int: Entry] = [:]

    /// How many exchanges have not ended yet.
    var count: Int { lock.withLock { entries.count } }

    /// Notes a task before it is resumed.
    func insert(_ task: URLSessionTask, receive: @escaping @Sendable (TransportEvent) -> Void) {
        let entry = Entry(task, receive)
        lock.withLock { entries[task.taskIdentifier] = entry }
    }

    /// Cancels the task soon, if it has not completed by then.
    func cancel(_ identifier: Int) {
        // Before the callbacks that wait: on Linux nothing holds a server back, and at the end of them
        // the whole of a body that is too large would have been read.
        queue.addUrgent { [self] in
            let task = lock.withLock { () -> URLSessionTask? in
                let entry = entries[identifier]
                entry?.isCancelled = true
                return entry?.task
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
        #if canImport(FoundationNetworking)
            // A task that was cancelled while this callback waited no longer expects an answer, and traps on one.
            let isExpected = lock.withLock { entries[task.taskIdentifier]?.isCancelled == false }
            guard isExpected else { return }
        #endif
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
        // On Linux interim responses (103 Early Hints, RFC 8297) arrive here too.
        if let response = response as? HTTPURLResponse, response.isFinal {
            let receive = lock.withLock { () -> (@Sendable (TransportEvent) -> Void)? in
                let entry = entries[dataTask.taskIdentifier]
                entry?.statusCode = response.statusCode
                return entry?.receive
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
            // On Linux the head of a redirect that leads nowhere stays in the task, and its body is lost.
            if entry.statusCode == nil, let response = task.response as? HTTPURLResponse, response.isFinal {
                entry.receive(.response(TransportResponse(response)))
            }
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

extension HTTPURLResponse {
    /// Whether no other head follows this one (RFC 9110 §15.2).
    fileprivate var isFinal: Bool { statusCode >= 200 || statusCode == 101 }
}

extension TransportResponse {
    /// Copies what Foundation parsed; it has joined repeats with a comma,
    /// which for `Set-Cookie` alone changes the meaning (RFC 9110 §5.3).
    fileprivate init(_ response: HTTPURLResponse) {
        // Asked for once: on Linux the dictionary is converted each time.
        let received = response.allHeaderFields
        var fields: [HeaderFields.Field] = []
        fields.reserveCapacity(received.count)
        for (name, value) in received {
            // Cast as what it is: as an AnyHashable, a name is looked into three times as long.
            guard let name = name.base as? String, let value = value as? String else { continue }
            if HeaderFields.isSameName(name, "Set-Cookie") {
                for cookie in Self.cookies(in: value) {
                    fields.append(HeaderFields.Field(name: name, value: cookie))
                }
            } else {
                fields.append(HeaderFields.Field(name: name, value: value))
            }
        }
        // Foundation's dictionary has no order; a stable one makes logs and tests readable.
        fields.sort { $0.name < $1.name }
        self.init(statusCode: response.statusCode, headerFields: HeaderFields(fields))
    }

    /// Takes joined `Set-Cookie` values apart: where a comma and a space are
    /// followed by a token and an equals sign, which no date is, a cookie
    /// begins.
    static func cookies(in joined: String) -> [String] {
        let bytes = Array(joined.utf8)
        var starts = [0]
        for comma in bytes.indices where bytes[comma] == UInt8(ascii: ",") {
            guard comma + 1 < bytes.count, bytes[comma + 1] == UInt8(ascii: " ") else { continue }
            let rest = bytes[(comma + 2)...]
            guard let end = rest.firstIndex(of: UInt8(ascii: "=")),
                HTTPGrammar.isToken(String(decoding: rest[..<end], as: UTF8.self))
            else { continue }
            starts.append(comma + 2)
        }
        return starts.indices.map { index in
            let end = index + 1 < starts.count ? starts[index + 1] - 2 : bytes.count
            return String(decoding: bytes[starts[index]..<end], as: UTF8.self)
        }
    }
}
