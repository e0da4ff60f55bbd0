import Foundation

/// Runs HTTP exchanges: the SDK's only access to the network.
///
/// A transport never follows a redirect, retries, stores a cookie or a credential, or limits the duration of an
/// exchange; the SDK does all of this above the transport. ``CurlTransport`` is the default on Linux, and
/// ``URLSessionTransport`` elsewhere. A test can use its own transport:
///
/// ```swift
/// import AtomNetworking
/// import Foundation
///
/// struct CannedTransport: Transport {
///     struct Started: TransportExchange { func cancel() {} }
///
///     func start(
///         _ request: TransportRequest, receive: @escaping @Sendable (TransportEvent) -> Void
///     ) -> any TransportExchange {
///         receive(.response(TransportResponse(statusCode: 200)))
///         receive(.data(Data(#"{"seats": 180}"#.utf8)))
///         receive(.finished)
///         return Started()
///     }
/// }
/// ```
///
/// Set ``ServiceConfiguration/transport`` to use it.
public protocol Transport: Sendable {
    /// How many exchanges with one origin make sense at a time; `nil`, the
    /// default, if the transport handles any number well.
    ///
    /// A stream that is read and a download don't count: it needs connections beside.
    var exchangesPerOrigin: Int? { get }

    /// Starts an exchange.
    ///
    /// It is called on any thread, one call after the other for requests whose order matters. It hands the request on
    /// and returns without waiting for the network, so that the order of calls is the order of sending.
    ///
    /// - Parameters:
    ///   - request: The complete request; the transport may add only fields that it lacks: those that delimit the
    ///     message, `Accept-Encoding` for the codings that it decodes, `User-Agent`, `Accept: */*`, and, as URLSession
    ///     does, `Accept-Language`, `Upload-Draft-Interop-Version`, `Upload-Complete` and `Upload-Length`.
    ///   - receive: Gets the events of this exchange in order, one at a time, on any thread, also inside this call: any
    ///     number of ``TransportEvent/sent(_:)``, one ``TransportEvent/response(_:)``, any number of
    ///     ``TransportEvent/data(_:)``, at most one ``TransportEvent/measured(_:)`` where it is wanted, and exactly one
    ///     ``TransportEvent/finished`` or ``TransportEvent/failed(_:)``, also for a cancelled exchange. Inside
    ///     `receive` the SDK may start and cancel exchanges, so don't hold a lock around the call: a response is judged
    ///     when its head arrives.
    /// - Returns: A handle that can stop the exchange.
    func start(
        _ request: TransportRequest, receive: @escaping @Sendable (TransportEvent) -> Void
    ) -> any TransportExchange
}

extension Transport {
    /// No limit.
    public var exchangesPerOrigin: Int? { nil }
}

/// An exchange that has been started.
public protocol TransportExchange: Sendable {
    /// Stops the exchange soon; it still ends with exactly one last event.
    ///
    /// It is called on any thread, any number of times, also after the end. It must
    /// not wait, and must not call `receive` before it returns.
    func cancel()

    /// Holds the body of the response back until ``resume()``, but for a few parts.
    ///
    /// It is called for a stream whose reader doesn't keep up, on any thread, also inside `receive`, and must not wait.
    ///
    /// - Returns: Whether the transport can do that. If not, which is the default,
    ///   the SDK collects what doesn't fit into memory in a temporary file.
    func pause() -> Bool

    /// Lets the body of the response go on after ``pause()``.
    func resume()

    /// Whether `receive` has still to be called with something that has arrived, or hasn't returned.
    ///
    /// A disk or an observer may hold it up: then silence isn't the server's, and the idle time isn't over. This is
    /// called on any thread, when that time would be over, and must not wait. The default is `false`.
    var isBehind: Bool { get }

    /// Reads what has arrived, gives it to `receive`, and then calls `done`.
    ///
    /// The process may have stood still until a deadline had passed, with the response in the socket. This is called on
    /// any thread, when the exchange's time would be over, and must not wait: perhaps before anything has been sent, or
    /// after the last event. `done` may be called on any thread, also inside this call, and the SDK waits for it for a
    /// moment only: late, or once more, it does no harm. The default calls it at once.
    func catchUp(_ done: @escaping @Sendable () -> Void)
}

extension TransportExchange {
    /// Not possible.
    public func pause() -> Bool { false }
    /// Nothing.
    public func resume() {}
    /// Not known.
    public var isBehind: Bool { false }
    /// Has read it already.
    public func catchUp(_ done: @escaping @Sendable () -> Void) { done() }
}

/// The result of `start` when nothing could be started.
struct EndedExchange: TransportExchange {
    func cancel() {}
}

/// A request for a transport.
public struct TransportRequest: Sendable {
    /// The method, a token.
    public var method: String { message.method }

    /// The absolute URL.
    public var target: TargetURL { message.target }

    /// The validated header fields in order; one of them may be a credential.
    public private(set) var headerFields: HeaderFields

    /// The body; `nil` for no body, which differs from an empty body.
    public var body: TransportBody? { message.body }

    /// The longest idle time that the SDK accepts.
    ///
    /// The SDK enforces this deadline itself. A transport with a shorter timeout must raise it.
    public let idleTimeout: Duration

    /// Whether the request must be sent over a new connection, without waiting for another one.
    ///
    /// It is so for a refresh: some HTTP stacks send a request twice if the server
    /// closes a reused connection without a response.
    public let needsFreshConnection: Bool

    /// Whether somebody wants to know how long the parts of the exchange took.
    ///
    /// A transport that can measure reports ``TransportEvent/measured(_:)`` then, and otherwise never.
    public let wantsMetrics: Bool

    /// Which attempt of the request it is, from 1.
    ///
    /// A redirect, the retry after a 401 and each attempt of a ``RetryPolicy`` have the next number.
    public let attempt: Int

    /// Without the fields that were added for this attempt.
    private(set) var message: RequestMessage

    /// Creates a request, for the tests of a transport; the header fields aren't checked.
    ///
    /// - Throws: ``AtomError/requestable(_:)`` when the method is not a token or the path is invalid.
    public init(
        method: String = "GET", base: BaseURL, path: URLPath, queryItems: [QueryItem] = [],
        headerFields: HeaderFields = HeaderFields(), body: Data? = nil, idleTimeout: Duration = .seconds(30),
        needsFreshConnection: Bool = false, wantsMetrics: Bool = false, attempt: Int = 1
    ) throws(AtomError) {
        guard HTTPGrammar.isToken(method) else {
            throw .refused(RequestableError.invalidMethod, method, because: "a method is a token (RFC 9110 §9.1)")
        }
        self.init(
            method: method, target: TargetURL(base: base, path: try path.checked(), queryItems: queryItems),
            headerFields: headerFields, body: body.map(TransportBody.data), idleTimeout: idleTimeout,
            needsFreshConnection: needsFreshConnection, wantsMetrics: wantsMetrics, attempt: attempt)
    }

    /// The same request with other header fields, for a transport that adds to what another transport sends.
    ///
    /// - Parameter headerFields: All of them; they replace those of this request.
    /// - Throws: ``RequestableError/invalidHeader(_:)`` for a field that can't be sent,
    ///   or that the transport itself writes (`Host`, `Content-Length`, …).
    public func replacing(headerFields: HeaderFields) throws(AtomError) -> TransportRequest {
        for field in headerFields {
            try HTTPGrammar.checkField(field.name, field.value)
            guard !HTTPGrammar.isReservedFieldName(field.name) else {
                throw .refused(
                    RequestableError.invalidHeader, field.name, because: "the transport writes this field itself")
            }
        }
        var request = self
        request.headerFields = headerFields
        return request
    }

    /// The same request to another URL, for example to a proxy of your own.
    ///
    /// All header fields stay, and a credential may be among them: use a target that may see it.
    public func replacing(target: TargetURL) -> TransportRequest {
        var request = self
        request.message.target = target
        return request
    }

    /// - Parameter headerFields: All of them, also those of the message.
    init(
        _ message: RequestMessage, headerFields: consuming HeaderFields, idleTimeout: Duration,
        needsFreshConnection: Bool = false, wantsMetrics: Bool = false, attempt: Int = 1
    ) {
        self.message = message
        self.headerFields = headerFields
        self.idleTimeout = idleTimeout
        self.needsFreshConnection = needsFreshConnection
        self.wantsMetrics = wantsMetrics
        self.attempt = attempt
    }

    init(
        method: String, target: TargetURL, headerFields: HeaderFields, body: TransportBody?,
        idleTimeout: Duration, needsFreshConnection: Bool = false, wantsMetrics: Bool = false, attempt: Int = 1
    ) {
        self.init(
            RequestMessage(method: method, target: target, headerFields: headerFields, body: body),
            headerFields: headerFields, idleTimeout: idleTimeout, needsFreshConnection: needsFreshConnection,
            wantsMetrics: wantsMetrics, attempt: attempt)
    }
}

extension TransportRequest: Redacted {
    /// Shows the method and the URL without the query values.
    public var description: String { "\(method) \(target)" }
}

/// The head of a server's response.
public struct TransportResponse: Sendable {
    /// The status code of the final response, never of an interim response.
    public let statusCode: Int

    /// The header fields as received, with repeats.
    ///
    /// Each `Set-Cookie` line is one cookie and is never split.
    public let headerFields: HeaderFields

    /// How many exchanges with this origin make sense at a time, now that its
    /// protocol is known; `nil` if ``Transport/exchangesPerOrigin`` still holds.
    ///
    /// A connection that multiplexes, as with HTTP/2, carries many exchanges.
    public let exchangesPerOrigin: Int?

    /// Creates a response head.
    public init(statusCode: Int, headerFields: HeaderFields = HeaderFields(), exchangesPerOrigin: Int? = nil) {
        self.statusCode = statusCode
        self.headerFields = headerFields
        self.exchangesPerOrigin = exchangesPerOrigin
    }
}

/// An event of an exchange.
public enum TransportEvent: Sendable {
    /// This many bytes of the body have been sent since the last event; 0 for a
    /// sign of life that no other event tells of, such as an interim response.
    ///
    /// Each restarts the idle time.
    case sent(Int)
    /// The head of the final response.
    case response(TransportResponse)
    /// A part of the body, decoded from content and transfer codings.
    case data(Data)
    /// What the transport measured, if ``TransportRequest/wantsMetrics`` is set: once, directly before the last event.
    indirect case measured(TransportMetrics)
    /// The exchange is complete.
    case finished
    /// The exchange has failed.
    case failed(TransportFailure)
}

extension TransportEvent: Redacted {
    /// Shows the event, and only the size of data.
    public var description: String {
        switch self {
        case .sent(let count): "\(count) bytes sent"
        case .response(let response): "response \(response.statusCode)"
        case .data(let data): "\(data.count) bytes received"
        case .measured: "measured"
        case .finished: "finished"
        case .failed(let failure): "failed: \(failure)"
        }
    }
}

/// Why an exchange failed.
public struct TransportFailure: Error {
    /// The cause: the ``AtomError`` of a body that could not be read, or
    /// anything else, which is wrapped in a `URLError` if it isn't one.
    public let error: any Error

    /// Whether any of the request may have reached the server; ``AtomError/Delivery/notSent`` only if that is certain.
    public let delivery: AtomError.Delivery

    /// Whether the server has closed a connection that was kept, as the request came.
    ///
    /// An idempotent one is sent again then (RFC 9110 §9.2.2).
    var isOfKeptConnection = false

    /// Whether the server has said that it has not processed the request (RFC 9113 §8.7), which is sent again then.
    var isUnprocessed = false

    /// Creates a failure.
    public init(_ error: any Error, delivery: AtomError.Delivery = .maybeSent) {
        self.error = error
        self.delivery = delivery
    }

    /// Creates a failure of which the server has seen nothing.
    init(unsent code: URLError.Code, _ explanation: String) {
        self.init(URLError(code, explanation, delivery: .notSent), delivery: .notSent)
    }

    /// The cause as the caller gets it.
    func atomError(delivery: AtomError.Delivery) -> AtomError {
        if case .transfer(let error)? = error as? AtomError {
            // An earlier attempt may have got further than the one that failed.
            let goesByAttempts = delivery == .answered || self.delivery == .notSent || error.delivery == .notSent
            return .transfer(goesByAttempts ? error.delivered(delivery) : error)
        }
        if let error = error as? AtomError { return error }
        return .session(urlError(delivery: delivery))
    }

    func urlError(delivery: AtomError.Delivery) -> URLError {
        if let error = error as? URLError { return error.delivered(delivery) }
        return URLError(
            .unknown, "The transport failed: \(type(of: error)).", delivery: delivery, underlying: error)
    }
}

extension TransportFailure: Redacted {
    /// Shows the type of the error and how far the request got.
    public var description: String {
        let code = (error as? URLError).map { " \($0.code.rawValue)" } ?? ""
        return "\(type(of: error))\(code), \(delivery.rawValue)"
    }
}
