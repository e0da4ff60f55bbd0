import Foundation

/// A transport that hands a response over on its own thread if all of it has arrived at once.
///
/// It saves the caller's way over a thread that may run code of the app: a sixth of the time of a request that is
/// alone, and 13,000 instructions.
protocol DirectTransport: Transport {
    /// Starts an exchange, as the transport's other function.
    ///
    /// - Parameter taker: Asked before the first event of a whole response; `nil` for an exchange of events only.
    func start(
        _ request: TransportRequest, taker: (any ResponseTaker)?,
        receive: @escaping @Sendable (TransportEvent) -> Void
    ) -> any TransportExchange
}

/// Whoever takes a whole response.
protocol ResponseTaker: AnyObject, Sendable {
    /// Takes it in place of all its events, or refuses it; called once, on a thread that
    /// runs no code of the app but its clock, and that must not be made to wait.
    func take(_ response: WholeResponse) -> ResponseTaking
}

/// A response that was there at once.
struct WholeResponse: Sendable {
    let head: TransportResponse
    let body: Data
    /// If the request wants them.
    var metrics: TransportMetrics?
}

/// What has become of a response that was there at once.
enum ResponseTaking: Sendable {
    /// It comes as events.
    case refused
    /// The transport wakes nobody. It may be the last one who lets go of the exchange, and with it of what the app has
    /// given: it does so where code of the app may run.
    case taken
    /// The caller goes on, as soon as the transport has let go of the exchange.
    case awaited(UnsafeContinuation<Void, Never>)
}
