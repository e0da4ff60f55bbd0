import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Runs exactly one HTTP exchange at a time: the SDK's only way to the network.
///
/// A transport never follows a redirect, retries, keeps a cookie or a
/// credential, or decides how long an exchange may take; all of that lives
/// once above it. URLSession is the default. A test scripts one:
///
/// ```swift
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
    /// How many exchanges with one origin make sense at a time; `nil` (the
    /// default) when the transport schedules any number well by itself.
    var exchangesPerOrigin: Int? { get }

    /// Starts an exchange.
    ///
    /// Called on any thread, one call after another for requests whose order
    /// matters. Returns without waiting for the network, having handed the
    /// request on, so that the order of calls is the order on the way out.
    ///
    /// - Parameters:
    ///   - request: What to send, complete; nothing may be added but what
    ///     delimits the message (`Host`, `Content-Length`, …).
    ///   - receive: Takes the events of this exchange in order, one at a time,
    ///     on any thread, also from inside this call: any number of
    ///     ``TransportEvent/sent(_:)``, one ``TransportEvent/response(_:)``, any
    ///     number of ``TransportEvent/data(_:)``, and exactly one
    ///     ``TransportEvent/finished`` or ``TransportEvent/failed(_:)``,
    ///     cancelled exchanges included.
    /// - Returns: A handle to stop the exchange with.
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
    /// Stops the exchange soon.
    ///
    /// Called on any thread, any number of times, also after the end, when it
    /// does nothing. Must not wait and must not call `receive` before it
    /// returns. The exchange still ends with its one last event.
    func cancel()
}

/// What a transport sends.
public struct TransportRequest: Sendable {
    /// The method, a token.
    public let method: String

    /// The absolute URL.
    public let target: TargetURL

    /// The header fields in order, checked; a credential may be among them.
    public let headerFields: HeaderFields

    /// The body; `nil` for none, which is not the same as an empty one.
    public let body: Data?

    /// The longest silence that the SDK will accept.
    ///
    /// The SDK keeps this deadline itself; a transport whose own would be
    /// shorter raises it.
    public let idleTimeout: Duration

    /// Whether it must not be sent over a connection that has been used, nor
    /// wait for one that is in use.
    ///
    /// A refresh is such a request: the requests that hold the connections may
    /// last for ever, and what is sent over a used connection is sent twice by
    /// some HTTP stacks when the server closes it without an answer.
    public let needsFreshConnection: Bool

    /// Makes a request, for the tests of a transport.
    ///
    /// - Throws: ``AtomError/requestable(_:)`` when the method is no token or
    ///   the path is invalid.
    public init(
        method: String = "GET", base: BaseURL, path: URLPath, queryItems: [QueryItem] = [],
        headerFields: HeaderFields = HeaderFields(), body: Data? = nil, idleTimeout: Duration = .seconds(30)
    ) throws(AtomError) {
        guard HTTPGrammar.isToken(method) else {
            throw .requestable(.invalidMethod(.init(subject: method, reason: "a method is a token (RFC 9110 §9.1)")))
        }
        self.init(
            method: method, target: TargetURL(base: base, path: path, queryItems: queryItems),
            headerFields: headerFields, body: body, idleTimeout: idleTimeout)
    }

    init(
        method: String, target: TargetURL, headerFields: HeaderFields, body: Data?, idleTimeout: Duration,
        needsFreshConnection: Bool = false
    ) {
        self.method = method
        self.target = target
        self.headerFields = headerFields
        self.body = body
        self.idleTimeout = idleTimeout
        self.needsFreshConnection = needsFreshConnection
    }
}

extension TransportRequest: CustomStringConvertible, CustomReflectable {
    /// Method and URL without the values of the query.
    public var description: String { "\(method) \(target)" }

    /// Keeps `dump` to what ``description`` shows.
    public var customMirror: Mirror { Mirror(self, children: ["method": method, "target": target.description]) }
}

/// The head of a server's answer.
public struct TransportResponse: Sendable {
    /// The status code of the final response, never of an interim one.
    public let statusCode: Int

    /// The header fields as they came, repeats kept: each `Set-Cookie` line
    /// makes one cookie and is never parted.
    public let headerFields: HeaderFields

    /// Makes a response head.
    public init(statusCode: Int, headerFields: HeaderFields = HeaderFields()) {
        self.statusCode = statusCode
        self.headerFields = headerFields
    }
}

/// What happens in an exchange.
public enum TransportEvent: Sendable {
    /// So many bytes of the body have gone out since the last event.
    case sent(Int)
    /// The head of the final response.
    case response(TransportResponse)
    /// A part of the body, decoded from content and transfer codings.
    case data(Data)
    /// The exchange is complete.
    case finished
    /// The exchange is over without being complete.
    case failed(TransportFailure)
}

extension TransportEvent: CustomStringConvertible, CustomReflectable {
    /// What happened; of the body only how much.
    public var description: String {
        switch self {
        case .sent(let count): "\(count) bytes sent"
        case .response(let response): "response \(response.statusCode)"
        case .data(let data): "\(data.count) bytes received"
        case .finished: "finished"
        case .failed(let failure): "failed: \(failure)"
        }
    }

    /// Keeps `dump` to what ``description`` shows.
    public var customMirror: Mirror { Mirror(self, children: ["event": description]) }
}

/// Why an exchange failed.
public struct TransportFailure: Error {
    /// What happened; anything but a `URLError` is wrapped in one.
    public let error: any Error

    /// Whether anything of the request can have reached the server;
    /// ``AtomError/Delivery/notSent`` only where that is known.
    public let delivery: AtomError.Delivery

    /// Makes a failure.
    public init(_ error: any Error, delivery: AtomError.Delivery = .maybeSent) {
        self.error = error
        self.delivery = delivery
    }

    /// The cause as a `URLError` that carries the delivery.
    func urlError(delivery: AtomError.Delivery) -> URLError {
        if let error = error as? URLError { return error.delivered(delivery) }
        return URLError(
            .unknown, "The transport failed: \(type(of: error)).", delivery: delivery, underlying: error)
    }
}

extension TransportFailure: CustomStringConvertible, CustomReflectable {
    /// What kind of error it is, and how far the request got.
    public var description: String {
        let code = (error as? URLError).map { " \($0.code.rawValue)" } ?? ""
        return "\(type(of: error))\(code), \(delivery.rawValue)"
    }

    /// Keeps `dump` to what ``description`` shows.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}
