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
public final class URLSessionTransport: Transport {
    /// Made for the first request and never replaced.
    private let session = Guarded<URLSession?>(nil)
    let delegate = ExchangeDelegate()
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
        session.withLock { $0 }?.finishTasksAndInvalidate()
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

    /// Hands the request to URLSession.
    public func start(
        _ request: TransportRequest, receive: @escaping @Sendable (TransportEvent) -> Void
    ) -> any TransportExchange {
        guard let url = Self.url(of: request.target) else {
            receive(.failed(TransportFailure(URLError(.badURL), delivery: .notSent)))
            return EndedExchange()
        }
        let urlRequest = Self.urlRequest(for: request, url: url)
        guard request.needsFreshConnection else { return start(urlRequest, receive: receive) }
        // Connections belong to a session. On Linux a request would else wait for one of six, and one
        // whose kept connection the server closes is lost, a refresh token with it.
        let delegate = ExchangeDelegate()
        let session = URLSession(
            configuration: makeConfiguration(), delegate: delegate, delegateQueue: delegate.queue)
        defer { session.finishTasksAndInvalidate() }
        let exchange = DataTaskExchange(delegate, receive: receive)
        delegate.start(exchange, urlRequest, in: session)
        return exchange
    }

    private func start(
        _ request: URLRequest, receive: @escaping @Sendable (TransportEvent) -> Void
    ) -> any TransportExchange {
        let exchange = DataTaskExchange(delegate, receive: receive)
        #if canImport(FoundationNetworking)
            if delegate.putsOffStart() {
                // Holds on to the transport, whose end is that of the session.
                StartQueue.add { [self] in delegate.startLater(exchange, request, in: startedSession()) }
                return exchange
            }
        #endif
        delegate.start(exchange, request, in: startedSession())
        return exchange
    }

    private func startedSession() -> URLSession {
        session.withLock { session in
            if let session { return session }
            let made = URLSession(
                configuration: makeConfiguration(), delegate: delegate, delegateQueue: delegate.queue)
            session = made
            return made
        }
    }

    /// The URL as Foundation takes it.
    ///
    /// On Linux it refuses every IPv6 address: it holds libcurl's name of the
    /// host, which has brackets, against its own, which has none.
    /// Percent-encoded, they agree.
    private static func url(of target: TargetURL) -> URL? {
        #if canImport(FoundationNetworking)
            if target.host.hasPrefix("["), let range = target.absoluteString.range(of: "[", options: .literal) {
                let end = target.absoluteString.utf8.index(range.lowerBound, offsetBy: target.host.utf8.count)
                let host = PercentEncoding.encode(target.host, allowing: PercentEncoding.unreserved)
                return URL(string: target.absoluteString.replacingCharacters(in: range.lowerBound..<end, with: host))
            }
        #endif
        return target.url
    }

    private static func urlRequest(for request: TransportRequest, url: URL) -> URLRequest {
        var urlRequest = URLRequest(url: url, cachePolicy: .reloadIgnoringLocalCacheData)
        // By its setter: on Linux the initializer's argument is passed over for the session's 60 seconds.
        urlRequest.timeoutInterval = timeoutInterval(above: request.idleTimeout)
        // What a request is by default isn't set again: the setter compares it with every method it knows.
        if request.method != "GET" { urlRequest.httpMethod = request.method }
        urlRequest.httpShouldHandleCookies = false
        if let body = request.body { urlRequest.httpBody = body }
        urlRequest.allHTTPHeaderFields = combined(request.headerFields)
        return urlRequest
    }

    /// The fields as Foundation keeps them: repeats joined with a comma, under
    /// the name that came first.
    ///
    /// All are set at once: one by one, on Linux, each value is taken apart
    /// into characters again. What that finds has been refused before it came
    /// here, or is left out.
    private static func combined(_ fields: HeaderFields) -> [String: String] {
        var combined = [String: String](minimumCapacity: fields.count)
        for field in fields where HTTPGrammar.violation(inFieldValue: field.value) == nil {
            let value = trimmed(field.value)
            if let name = combined.keys.first(where: { HeaderFields.isSameName($0, field.name) }) {
                combined[name]?.append(",\(value)")
            } else {
                combined[field.name] = value
            }
        }
        return combined
    }

    /// The value without the white space around it, which is not part of it
    /// (RFC 9110 §5.5): libcurl drops a field with nothing but blanks.
    private static func trimmed(_ value: String) -> String {
        let bytes = value.utf8
        guard bytes.first == 0x20 || bytes.first == 0x09 || bytes.last == 0x20 || bytes.last == 0x09 else {
            return value
        }
        return value.trimmingCharacters(in: .whitespaces)
    }

    /// Later than the deadline kept above the seam: Foundation on Linux cuts
    /// fractions off, fails at once below a second and traps on huge values.
    ///
    /// There it makes a timer for each field of an answer. One whose time lies
    /// past what Dispatch counts, three centuries from now, is never armed.
    static func timeoutInterval(above idle: Duration) -> TimeInterval {
        #if canImport(FoundationNetworking)
            // In milliseconds it has to fit an `Int`.
            if Int.bitWidth >= 64 { return 10_000_000_000 }
        #endif
        return min(max(idle.seconds.rounded(.up) + 5, 6), Duration.year.seconds)
    }
}

/// What `start` returns when there was nothing to start.
private struct EndedExchange: TransportExchange {
    func cancel() {}
}
