import Foundation

/// Takes requests in and sends them on their way.
///
/// Owns what the exchanges of one ``Atom`` share: the transport, the slots of
/// each origin, the deadlines, the cookies and the log. A request goes
/// straight on unless it has to wait for a slot.
final class RequestableQueueManager: Sendable {
    let transport: any Transport
    let slots: OriginSlots
    let deadlines: DeadlineQueue
    let cookies: CookieJar
    let log: ExchangeLog
    let time: any TimeSource
    let redirectPolicy: RedirectPolicy
    let maximumResponseSize: Int
    /// Shared by all; `JSONDecoder` may decode on many threads as long as nobody changes it.
    let decoder: JSONDecoder
    private let timeout: ServiceTimeout
    /// Why nothing can be sent with this configuration, if that is so.
    private let refusal: RequestableError?
    /// The value of the `Authorization` field, made once.
    private let basicAuthorization: Result<String?, AtomError>

    init(_ configuration: ServiceConfiguration, time: any TimeSource = SystemTimeSource()) {
        self.time = time
        transport = configuration.transport ?? configuration.makeURLSessionTransport()
        refusal = configuration.transport == nil ? configuration.configuration.violation : nil
        slots = OriginSlots(limit: configuration.maximumExchangesPerOrigin ?? transport.exchangesPerOrigin)
        deadlines = DeadlineQueue(time: time)
        cookies = CookieJar(storage: configuration.configuration.cookieStorage)
        log = ExchangeLog(isEnabled: configuration.isLogEnabled, handler: configuration.logHandler)
        redirectPolicy = configuration.redirectPolicy
        maximumResponseSize = configuration.maximumResponseSize
        decoder = configuration.decoder
        timeout = configuration.timeout
        basicAuthorization = Self.basicAuthorization(for: configuration.authenticationMethod)
    }

    /// Reads and checks an endpoint, in the caller's isolation.
    func prepare(_ requestable: any Requestable) throws(AtomError) -> PreparedRequest {
        if let refusal { throw .requestable(refusal) }
        let request = try PreparedRequest(requestable, timeout: timeout)
        if request.isSigned { _ = try basicAuthorization.get() }
        return request
    }

    /// Starts a request or queues it for a slot, before this returns.
    func run(_ request: PreparedRequest, completion: @escaping Exchange.Completion) -> Exchange {
        let exchange = Exchange(request, manager: self, completion: completion)
        exchange.admit()
        return exchange
    }

    /// The value that signs a request right now, if any.
    func authorization() -> Result<String?, AtomError> {
        basicAuthorization
    }

    private static func basicAuthorization(for method: AuthenticationMethod) -> Result<String?, AtomError> {
        switch method {
        case .none:
            .success(nil)
        case .basic(let credential):
            Result { () throws(AtomError) in try credential.authorization() }
        }
    }
}
