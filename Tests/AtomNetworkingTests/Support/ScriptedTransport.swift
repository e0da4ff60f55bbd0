import AtomNetworking
import Foundation
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A transport without a network that responds when the test says so.
///
/// ```swift
/// let transport = ScriptedTransport()
/// async let model = atom.enqueue(endpoint).resume(expecting: Seat.self)
/// let exchange = await transport.exchange(0)
/// exchange.answer(#"{"row": 12}"#)
/// ```
///
/// With a script every exchange gets its response inside `start`:
///
/// ```swift
/// let transport = ScriptedTransport { $0.answer(#"{"row": 12}"#) }
/// ```
final class ScriptedTransport: Transport, @unchecked Sendable {
    typealias Script = @Sendable (ScriptedExchange) -> Void

    let exchangesPerOrigin: Int?

    private let script: Script?
    private let endsOnCancel: Bool

    // Accessed only under `lock`.
    private let lock = NSLock()
    private var started: [ScriptedExchange] = []
    private var waiting: [(index: Int, signal: Signal)] = []

    /// - Parameters:
    ///   - exchangesPerOrigin: The number of slots of an origin; `nil` for no
    ///     limit.
    ///   - endsOnCancel: Whether a cancelled exchange ends by itself, soon and
    ///     on another thread; otherwise the test ends it.
    ///   - script: Called inside `start` with every exchange.
    init(exchangesPerOrigin: Int? = nil, endsOnCancel: Bool = true, script: Script? = nil) {
        self.exchangesPerOrigin = exchangesPerOrigin
        self.endsOnCancel = endsOnCancel
        self.script = script
    }

    /// Every exchange that was started, in order.
    var exchanges: [ScriptedExchange] { lock.withLock { started } }

    /// The requests, in order.
    var requests: [TransportRequest] { exchanges.map(\.request) }

    /// How many exchanges were cancelled before their end.
    var cancelCount: Int { exchanges.count { $0.isCancelled } }

    /// Waits for the exchange with this index.
    ///
    /// If it isn't started within minutes, the test fails and gets an unused
    /// exchange.
    func exchange(_ index: Int, sourceLocation: SourceLocation = #_sourceLocation) async -> ScriptedExchange {
        let isStarted = Signal()
        lock.withLock {
            if index < started.count { isStarted.raise() } else { waiting.append((index, isStarted)) }
        }
        await isStarted.wait(sourceLocation: sourceLocation)
        return lock.withLock { index < started.count ? started[index] : .nobodys }
    }

    func start(
        _ request: TransportRequest, receive: @escaping @Sendable (TransportEvent) -> Void
    ) -> any TransportExchange {
        let exchange = ScriptedExchange(request, endsOnCancel: endsOnCancel, receive: receive)
        let woken = lock.withLock {
            started.append(exchange)
            let woken = waiting.filter { $0.index < started.count }
            waiting.removeAll { $0.index < started.count }
            return woken.map(\.signal)
        }
        for signal in woken { signal.raise() }
        script?(exchange)
        return exchange
    }
}

/// One exchange of a ``ScriptedTransport``; events after its last one are
/// dropped.
final class ScriptedExchange: TransportExchange, @unchecked Sendable {
    let request: TransportRequest

    private let endsOnCancel: Bool

    // Accessed only under `lock`; `receive` is nil when the exchange has ended.
    private let lock = NSLock()
    private var receive: (@Sendable (TransportEvent) -> Void)?
    private var wasCancelled = false
    private var cancels = 0
    private var canPause = false
    private var pauses: [Bool] = []

    fileprivate init(
        _ request: TransportRequest, endsOnCancel: Bool, receive: @escaping @Sendable (TransportEvent) -> Void
    ) {
        self.request = request
        self.endsOnCancel = endsOnCancel
        self.receive = receive
    }

    /// The exchange that a test gets when its wait has failed.
    fileprivate static let nobodys: ScriptedExchange = {
        guard let request = try? TransportRequest(base: BaseURL(host: "nobody.example.com"), path: URLPath("/")) else {
            preconditionFailure("Host and path are valid as they stand here")
        }
        return ScriptedExchange(request, endsOnCancel: true) { _ in }
    }()

    /// Whether it was cancelled before its end.
    var isCancelled: Bool { lock.withLock { wasCancelled } }

    /// How often `cancel` was called, also after the end.
    var cancelCalls: Int { lock.withLock { cancels } }

    /// Whether its last event has been sent.
    var isOver: Bool { lock.withLock { receive == nil } }

    /// Sends a complete response.
    func answer(_ body: String = "", status: Int = 200, headers: [(String, String)] = []) {
        answer(data: Data(body.utf8), status: status, headers: headers)
    }

    /// Sends a complete response.
    func answer(data: Data, status: Int = 200, headers: [(String, String)] = []) {
        let fields = HeaderFields(headers.map { HeaderFields.Field(name: $0.0, value: $0.1) })
        send(.response(TransportResponse(statusCode: status, headerFields: fields)))
        if !data.isEmpty { send(.data(data)) }
        send(.finished)
    }

    /// Sends a redirect.
    func redirect(_ status: Int = 302, to location: String) {
        answer(status: status, headers: [("Location", location)])
    }

    /// Ends without a response, or in the middle of one.
    func fail(_ code: URLError.Code, delivery: AtomError.Delivery = .maybeSent) {
        send(.failed(TransportFailure(URLError(code), delivery: delivery)))
    }

    /// Sends one event; the test is responsible for the order.
    func send(_ event: TransportEvent) {
        let receive = lock.withLock { () -> (@Sendable (TransportEvent) -> Void)? in
            defer { if event.isLast { self.receive = nil } }
            return self.receive
        }
        receive?(event)
    }

    /// Lets the exchange be paused from now on.
    func allowPausing() { lock.withLock { canPause = true } }

    /// Each pause (`true`) and resumption (`false`), in order.
    var pauseCalls: [Bool] { lock.withLock { pauses } }

    func pause() -> Bool {
        lock.withLock {
            if canPause { pauses.append(true) }
            return canPause
        }
    }

    func resume() { lock.withLock { pauses.append(false) } }

    func cancel() {
        let isRunning = lock.withLock {
            cancels += 1
            wasCancelled = wasCancelled || receive != nil
            return receive != nil
        }
        guard isRunning, endsOnCancel else { return }
        DispatchQueue.global().async { self.fail(.cancelled) }
    }
}

extension TransportEvent {
    fileprivate var isLast: Bool {
        switch self {
        case .finished, .failed: true
        case .sent, .response, .data, .measured: false
        }
    }
}
