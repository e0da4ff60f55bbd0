import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The default transport on Apple platforms: one URLSession with data tasks and a session delegate.
///
/// It follows no redirect, answers no challenge of a request, and stores no cookie, cache or credential. Challenges of
/// the connection are the system's, or your `challenge`'s. It works around defects of Foundation on Linux.
///
/// The session is created for the first request. It is released when the
/// transport has been released and its last exchange has ended.
public final class URLSessionTransport: Transport {
    /// Created for the first request and never replaced.
    private let session = Guarded<URLSession?>(nil)
    let delegate: ExchangeDelegate
    private let configuration: SessionConfiguration
    private let configure: @Sendable (URLSessionConfiguration) -> Void
    private let challenges: ChallengeDisposition

    private init(
        _ configuration: SessionConfiguration, _ challenges: ChallengeDisposition,
        configure: @escaping @Sendable (URLSessionConfiguration) -> Void
    ) {
        self.configuration = configuration
        self.configure = configure
        self.challenges = challenges
        delegate = ExchangeDelegate(challenges: challenges)
    }

    /// Creates a transport with its own session.
    public convenience init(configuration: SessionConfiguration = .ephemeral) {
        self.init(configuration, .system) { _ in }
    }

    #if os(iOS)
        /// Creates a transport whose session uses Multipath TCP.
        public convenience init(
            configuration: SessionConfiguration, multipathServiceType: URLSessionConfiguration.MultipathServiceType
        ) {
            self.init(configuration, .system) { $0.multipathServiceType = multipathServiceType }
        }
    #endif

    /// Creates a transport whose session you configure.
    ///
    /// Use it for what only URLSession knows: networks that cost money or are constrained, a proxy, TLS versions,
    /// protocols of your own. Cookies, caches, credentials and the session's own timeouts stay as the SDK needs them.
    ///
    /// - Parameters:
    ///   - configuration: What the sessions begin with; ephemeral by default.
    ///   - configure: Changes the configuration of each session: one for all
    ///     requests, and one for each that needs a fresh connection, such as a refresh.
    public convenience init(
        configuration: SessionConfiguration = .ephemeral,
        configure: @escaping @Sendable (URLSessionConfiguration) -> Void
    ) {
        self.init(configuration, .system, configure: configure)
    }

    #if !canImport(FoundationNetworking)
        /// Creates a transport whose session you configure, and whose challenges you answer.
        ///
        /// The app is asked about the connection: which server to trust, which client certificate to send, and how to
        /// sign in to a proxy. Any other challenge is a 401, which the caller gets. On Linux URLSession can't answer
        /// challenges; ``CurlTransport`` takes certificates there.
        ///
        /// - Parameters:
        ///   - configuration: What the session's configuration is made from.
        ///   - configure: As in ``init(configuration:configure:)``.
        ///   - challenge: Answers a challenge, while the request's idle timeout runs;
        ///     `.performDefaultHandling` for what you don't decide. `.cancelAuthenticationChallenge` ends the request
        ///     with `URLError.serverCertificateUntrusted`, if it is about the server's certificate.
        public convenience init(
            configuration: SessionConfiguration = .ephemeral,
            configure: @escaping @Sendable (URLSessionConfiguration) -> Void = { _ in },
            challenge:
                @escaping @Sendable (
                    URLAuthenticationChallenge
                ) async -> (URLSession.AuthChallengeDisposition, URLCredential?)
        ) {
            self.init(configuration, .app(challenge), configure: configure)
        }
    #endif

    deinit {
        // Running exchanges end normally.
        session.withLock { $0 }?.finishTasksAndInvalidate()
    }

    /// Six, which is what servers expect of one client.
    ///
    /// On Apple platforms it is 100 for a server as soon as the session has told
    /// that it speaks HTTP/2 or HTTP/3, which it does at the end of an exchange.
    public var exchangesPerOrigin: Int? { NegotiatedProtocols.connections }

    /// Passes the request to URLSession.
    public func start(
        _ request: TransportRequest, receive: @escaping @Sendable (TransportEvent) -> Void
    ) -> any TransportExchange {
        if let violation = configuration.violation {
            receive(.failed(TransportFailure(AtomError.requestable(violation), delivery: .notSent)))
            return EndedExchange()
        }
        guard let url = Self.url(of: request.target) else {
            receive(.failed(TransportFailure(URLError(.badURL), delivery: .notSent)))
            return EndedExchange()
        }
        let urlRequest = Self.urlRequest(for: request, url: url)
        let isOnItsOwn = request.needsFreshConnection && request.body?.isStream != true
        let delegate = isOnItsOwn ? ExchangeDelegate(challenges: challenges) : delegate
        let exchange = DataTaskExchange(delegate, wantsMetrics: request.wantsMetrics, receive: receive)
        if let body = request.body, body.isStream {
            start(exchange, urlRequest, sending: body)
        } else if isOnItsOwn {
            // A session has its own connections. On a kept-alive one the request, and a
            // refresh token with it, would be lost if the server closes it.
            let session = makeSession(delegate)
            defer { session.finishTasksAndInvalidate() }
            delegate.start(exchange, urlRequest, in: session)
        } else {
            delegate.start(exchange, urlRequest, in: startedSession())
        }
        return exchange
    }

    /// Sends a body that isn't in memory.
    ///
    /// A stream of the app is written to a temporary file first: URLSession would not
    /// send its length, and on Linux can't read it on demand.
    private func start(_ exchange: DataTaskExchange, _ request: URLRequest, sending body: TransportBody) {
        #if canImport(FoundationNetworking)
            if case .segments = body.source { return send(body, of: request, as: exchange) }
        #else
            if let file = body.fileURL { return send(file, of: request, as: exchange) }
        #endif
        let delegate = delegate
        let spooled = SpooledBody(body)
        // Nobody else has the exchange yet.
        exchange.spooledBody = spooled
        // No byte has been sent, but the app's stream isn't silent either.
        let progress = { @Sendable in delegate.tell(exchange, .sent(0)) }
        spooled.write(progress: progress) { [self, url = spooled.url] failure in
            // Keeps the transport alive, because the session ends with it.
            if let failure { return fail(exchange, failure) }
            send(url, of: request, as: exchange)
        }
    }

    private func fail(_ exchange: DataTaskExchange, _ failure: AtomError) {
        delegate.tell(exchange, .failed(TransportFailure(failure, delivery: .notSent)))
    }

    #if canImport(FoundationNetworking)
        private func send(_ file: URL, of request: URLRequest, as exchange: DataTaskExchange) {
            do {
                let body = TransportBody(try BodySegments([.file(FileSegment(url: file))]))
                send(body, of: request, as: exchange)
            } catch {
                fail(exchange, error)
            }
        }

        /// Sends files that are read while they are sent.
        private func send(_ body: TransportBody, of request: URLRequest, as exchange: DataTaskExchange) {
            var request = request
            let delegate = delegate
            request.httpBodyStream = BodyInputStream(body.makeReader()) { error in
                delegate.bodyHasFailed(exchange, error)
            }
            // libcurl sends a stream in chunks, unless somebody else has chosen
            // the transfer coding; it leaves out a field without a value.
            request.allHTTPHeaderFields?["Transfer-Encoding"] = " "
            request.allHTTPHeaderFields?["Content-Length"] = body.length.map { String($0) }
            delegate.start(exchange, request, in: startedSession())
        }
    #else
        private func send(_ file: URL, of request: URLRequest, as exchange: DataTaskExchange) {
            delegate.start(exchange, request, fromFile: file, in: startedSession())
        }
    #endif

    private func startedSession() -> URLSession {
        session.withLock { session in
            if let session { return session }
            let made = makeSession(delegate)
            session = made
            return made
        }
    }

    private func makeSession(_ delegate: ExchangeDelegate) -> URLSession {
        URLSession(
            configuration: configuration.urlSessionConfiguration(configure), delegate: delegate,
            delegateQueue: delegate.queue)
    }

    /// The URL in a form that Foundation accepts.
    ///
    /// On Linux it compares libcurl's host with its own, which has no brackets for an
    /// IPv6 address. With percent-encoding they are equal.
    private static func url(of target: TargetURL) -> URL? {
        #if canImport(FoundationNetworking)
            if target.host.hasPrefix("["), let range = target.absoluteString.range(of: "[", options: .literal) {
                let end = target.absoluteString.utf8.index(range.lowerBound, offsetBy: target.host.utf8.count)
                let host = PercentEncoding.encode(target.host, allowing: PercentEncoding.unreserved)
                return HTTPGrammar.url(
                    target.absoluteString.replacingCharacters(in: range.lowerBound..<end, with: host))
            }
        #endif
        return target.url
    }

    private static func urlRequest(for request: TransportRequest, url: URL) -> URLRequest {
        var urlRequest = URLRequest(url: url, cachePolicy: .reloadIgnoringLocalCacheData)
        // Set here: on Linux the session's replaces the initializer's argument.
        urlRequest.timeoutInterval = timeoutInterval
        urlRequest.httpMethod = request.method
        urlRequest.httpShouldHandleCookies = false
        if let body = request.body?.data { urlRequest.httpBody = body }
        urlRequest.allHTTPHeaderFields = combined(request.headerFields)
        return urlRequest
    }

    /// The fields as Foundation stores them: repeats are joined with a comma; all are
    /// set at once, since on Linux it changes the case of a name that is set alone.
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

    /// The value without surrounding whitespace, which is not part of it (RFC
    /// 9110 §5.5): libcurl drops a field that consists of whitespace.
    private static func trimmed(_ value: String) -> String {
        let bytes = value.utf8
        guard bytes.first == 0x20 || bytes.first == 0x09 || bytes.last == 0x20 || bytes.last == 0x09 else {
            return value
        }
        return value.trimmingCharacters(in: .whitespaces)
    }

    /// Never before the SDK's own deadlines, which some requests outlive: what has arrived by then counts.
    static let timeoutInterval: TimeInterval = {
        #if canImport(FoundationNetworking)
            // It doesn't count anew when something comes. In milliseconds it has to fit in an `Int`.
            return Int.bitWidth >= 64 ? 10_000_000_000 : 2_000_000
        #else
            return Duration.year.seconds
        #endif
    }()
}

/// Who answers the challenges of a session.
enum ChallengeDisposition: Sendable {
    /// The system evaluates trust; a 401 is returned unchanged.
    case system
    #if !canImport(FoundationNetworking)
        /// The app answers those of the connection.
        case app(
            @Sendable (URLAuthenticationChallenge) async -> (URLSession.AuthChallengeDisposition, URLCredential?))

        /// Calls the handler once, on any thread.
        func answer(
            _ challenge: URLAuthenticationChallenge,
            _ handler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
        ) {
            let space = challenge.protectionSpace
            let reply = Self.reply(to: space.authenticationMethod, isProxy: space.isProxy())
            guard case .app(let answer) = self, reply != .rejectProtectionSpace else { return handler(reply, nil) }
            Task(priority: .userInitiated) {
                let (disposition, credential) = await answer(challenge)
                handler(disposition, credential)
            }
        }
    #endif

    /// The reply to a challenge that the app doesn't answer.
    ///
    /// One of a request, not of the connection, is rejected. If it were answered, also by the system's single sign-on,
    /// URLSession would send the request again: with a second `Authorization`, and without the SDK's knowledge.
    static func reply(to method: String, isProxy: Bool) -> URLSession.AuthChallengeDisposition {
        let isOfRequest = [
            NSURLAuthenticationMethodDefault, NSURLAuthenticationMethodHTTPBasic,
            NSURLAuthenticationMethodHTTPDigest, NSURLAuthenticationMethodHTMLForm,
            NSURLAuthenticationMethodNTLM, NSURLAuthenticationMethodNegotiate,
        ].contains(method)
        return isOfRequest && !isProxy ? .rejectProtectionSpace : .performDefaultHandling
    }
}
