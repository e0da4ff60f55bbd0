import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The default transport: one URLSession, plain data tasks and a session
/// delegate.
///
/// It refuses every redirect and challenge, keeps no cookie, cache or
/// credential, and stands in front of what Foundation does badly on Linux:
/// challenges that hang, cancellation that traps, timeouts that are cut to
/// whole seconds, errors that don't say what happened.
///
/// The session is made at the first request and let go when the transport is
/// released and its last exchange has ended.
public final class URLSessionTransport: Transport, @unchecked Sendable {
    // `session` is made under `lock` and never replaced; the rest is constant.
    private let lock = NSLock()
    private var session: URLSession?
    private let delegate = ExchangeDelegate()
    private let makeConfiguration: @Sendable () -> URLSessionConfiguration

    /// Makes a transport over a session of its own.
    public init(configuration: SessionConfiguration = .ephemeral) {
        makeConfiguration = { configuration.urlSessionConfiguration }
    }

    #if os(iOS)
        /// Makes a transport whose session uses Multipath TCP.
        public init(
            configuration: SessionConfiguration, multipathServiceType: URLSessionConfiguration.MultipathServiceType
        ) {
            makeConfiguration = {
                let session = configuration.urlSessionConfiguration
                session.multipathServiceType = multipathServiceType
                return session
            }
        }
    #endif

    deinit {
        // The session keeps its delegate until then, and running exchanges end as they would have.
        session?.finishTasksAndInvalidate()
    }

    /// Six on Linux, where more requests would wait inside URLSession, in no
    /// order and with their timeouts running; no limit on Apple's systems.
    public var exchangesPerOrigin: Int? {
        #if canImport(FoundationNetworking)
            6
        #else
            nil
        #endif
    }

    public func start(
        _ request: TransportRequest, receive: @escaping @Sendable (TransportEvent) -> Void
    ) -> any TransportExchange {
        guard let url = request.target.url else {
            receive(.failed(TransportFailure(URLError(.badURL), delivery: .notSent)))
            return EndedExchange()
        }
        let task = startedSession().dataTask(with: Self.urlRequest(for: request, url: url))
        delegate.insert(task, receive: receive)
        task.resume()
        return DataTaskExchange(identifier: task.taskIdentifier, delegate: delegate)
    }

    private func startedSession() -> URLSession {
        lock.withLock {
            if let session { return session }
            let made = URLSession(
                configuration: makeConfiguration(), delegate: delegate, delegateQueue: delegate.queue)
            session = made
            return made
        }
    }

    private static func urlRequest(for request: TransportRequest, url: URL) -> URLRequest {
        var urlRequest = URLRequest(
            url: url, cachePolicy: .reloadIgnoringLocalCacheData,
            timeoutInterval: timeoutInterval(above: request.idleTimeout))
        urlRequest.httpMethod = request.method
        urlRequest.httpShouldHandleCookies = false
        urlRequest.httpBody = request.body
        for field in request.headerFields {
            urlRequest.addValue(field.value, forHTTPHeaderField: field.name)
        }
        return urlRequest
    }

    /// Whole seconds, later than the deadline kept above the seam: Foundation
    /// on Linux cuts fractions off, fails at once below one and traps on huge
    /// values.
    static func timeoutInterval(above idle: Duration) -> TimeInterval {
        let components = idle.components
        let seconds = Double(components.seconds) + Double(components.attoseconds) * 1e-18
        return min(max(seconds.rounded(.up) + 5, 6), 31_536_000)
    }
}

/// What `start` returns when there was nothing to start.
private struct EndedExchange: TransportExchange {
    func cancel() {}
}

private struct DataTaskExchange: TransportExchange {
    let identifier: Int
    let delegate: ExchangeDelegate

    func cancel() {
        delegate.cancel(identifier)
    }
}
