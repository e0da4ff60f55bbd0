import AtomNetworking
import AtomNetworkingTesting
import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A sound transport with one planted fault.
final class FaultyTransport: Transport {
    enum Fault: String, CaseIterable, Sendable {
        case bodyBeforeHead, twoEnds, dataAfterTheEnd, noEnd
        case overlappingEvents
        case cutIsComplete, cutHeadIsComplete, refusedHeadIsComplete
        case repeatsFailed, repeatsOverKeptConnections, repeatsPosts
        case claimsNotSent, claimsKeptNotSent, claimsCancelledNotSent
        case noEndAfterCancel, finishesCancelled
        case eventInsideCancel
        case lateCancelReports
        case forgetsEndWhenCancelledInside
        case waitsInStart
        case swapsRequests
        case followsRedirects
        case keepsCookies
        case answersFromMemory, asksWhetherChanged
        case hidesBodyOf401
        case losesQuery
        case losesRepeatedField
        case sortsFields
        case addsField
        case joinsCookies
        case miscountsSent, losesBody
        case losesStreams, reportsNothingOfStreams
        case readsStreamsAhead
        case losesLastPart
        case leavesCoding
        case showsInterim
        case keepsConnections
        case mixesBodies, waitsForOthers
        case measuresUnasked, measuresTwice
        case ignoresPause, losesPausedParts, readsWhilePaused
        case endsWithTransport

        /// The check that finds it.
        var check: TransportContract.Check {
            switch self {
            case .bodyBeforeHead, .twoEnds, .dataAfterTheEnd, .noEnd: .eventsInOrder
            case .overlappingEvents: .oneEventAtATime
            case .cutIsComplete, .repeatsFailed: .brokenResponsesFail
            case .repeatsOverKeptConnections: .requestsAreSentOnce
            case .cutHeadIsComplete: .brokenHeadsFail
            case .refusedHeadIsComplete: .differingLengthsFail
            case .claimsNotSent, .claimsKeptNotSent, .claimsCancelledNotSent, .repeatsPosts: .deliveryIsHonest
            case .noEndAfterCancel, .finishesCancelled: .cancelledExchangesEnd
            case .eventInsideCancel: .cancelIsQuiet
            case .lateCancelReports: .lateCancelDoesNothing
            case .forgetsEndWhenCancelledInside: .cancelInsideReceive
            case .waitsInStart: .startDoesNotWait
            case .swapsRequests: .requestsKeepTheirOrder
            case .followsRedirects: .redirectsAreNotFollowed
            case .keepsCookies: .cookiesAreNotKept
            case .answersFromMemory, .asksWhetherChanged: .responsesAreNotKept
            case .hidesBodyOf401: .challengesAreNotAnswered
            case .losesQuery: .targetsAreExact
            case .losesRepeatedField: .headerFieldsAreSent
            case .sortsFields: .headerFieldLinesAreExact
            case .addsField: .headerFieldsAreNotAdded
            case .joinsCookies: .headerFieldsAreReceived
            case .miscountsSent, .losesBody: .bodiesAreSent
            case .losesStreams, .reportsNothingOfStreams: .streamedBodiesAreSent
            case .readsStreamsAhead: .streamsAreReadOnDemand
            case .losesLastPart: .bodiesAreReceived
            case .leavesCoding: .bodiesAreDecoded
            case .showsInterim: .interimResponsesAreSkipped
            case .keepsConnections: .freshConnections
            case .mixesBodies, .waitsForOthers: .exchangesSideBySide
            case .measuresUnasked, .measuresTwice: .metricsAreInPlace
            case .ignoresPause, .losesPausedParts, .readsWhilePaused: .pauseHoldsBack
            case .endsWithTransport: .exchangesOutliveTheTransport
            }
        }

        /// Silence is found by any patience, and nothing else may be found by impatience.
        var patience: Duration {
            switch self {
            case .noEnd, .noEndAfterCancel, .forgetsEndWhenCancelledInside, .waitsInStart, .waitsForOthers,
                .endsWithTransport:
                .milliseconds(50)
            default: .seconds(120)
            }
        }
    }

    private let fault: Fault
    private let base = ServiceConfiguration().makeDefaultTransport()
    private let memory = Memory()
    private let running = Shared<[any TransportExchange]>([])
    private let swapped = Shared<(@Sendable () -> Void)?>(nil)

    init(_ fault: Fault) { self.fault = fault }

    deinit {
        if fault == .endsWithTransport { for exchange in running.value { exchange.cancel() } }
    }

    func start(
        _ request: TransportRequest, receive: @escaping @Sendable (TransportEvent) -> Void
    ) -> any TransportExchange {
        let exchange = FaultyExchange(fault, receive)
        if fault == .waitsForOthers, running.value.count == 40 { return exchange }
        if fault == .answersFromMemory, let events = memory.responses.value[request.target.absoluteString] {
            for event in events { receive(event) }
            return exchange
        }
        switch (fault, request.body) {
        case (.swapsRequests, _):
            let begin = { @Sendable [base] in exchange.begin(base.start(request, receive: receive)) }
            let earlier = swapped.change { swapped in
                defer { swapped = swapped == nil ? begin : nil }
                return swapped
            }
            if let earlier {
                begin()
                earlier()
            }
            return exchange
        case (.readsStreamsAhead, let stream?) where stream.data == nil:
            Thread.detachNewThread { [base] in
                guard let body = try? stream.makeReader().readAll(), let whole = try? request.replacing(body: body)
                else { return receive(.failed(TransportFailure(URLError(.unknown)))) }
                exchange.begin(base.start(whole, receive: receive))
            }
            return exchange
        default: break
        }
        let filter = Filter(fault, exchange, memory, request)
        let base = base
        let end = DispatchSemaphore(value: 0)
        let started = base.start(changed(request)) { [fault] event in
            if fault == .followsRedirects, case .response(let head) = event, (300...399).contains(head.statusCode),
                let next = try? request.replacing(path: head.headerFields["Location"] ?? "/")
            {
                exchange.isReplaced.change { $0 = true }
                exchange.begin(base.start(next) { filter.receive($0) })
            } else if case .failed = event, filter.repeatsRequest, !exchange.isReplaced.value {
                exchange.isReplaced.change { $0 = true }
                exchange.begin(base.start(request) { filter.receive($0) })
            } else if !exchange.isReplaced.value {
                filter.receive(event)
            }
            if case .response = event { end.signal() }
            if case .failed = event { end.signal() }
        }
        if !exchange.isReplaced.value { exchange.begin(started) }
        if fault == .endsWithTransport || fault == .waitsForOthers { running.change { $0.append(started) } }
        if fault == .waitsInStart { _ = end.wait(timeout: .now() + 300) }
        return exchange
    }

    /// What is sent in place of the request.
    private func changed(_ request: TransportRequest) -> TransportRequest {
        var fields = request.headerFields
        switch fault {
        case .keepsCookies:
            if let cookie = memory.cookies.value.last { fields.append(name: "Cookie", value: cookie) }
        case .asksWhetherChanged:
            if memory.hasFinished.value { fields.append(name: "If-None-Match", value: "\"1\"") }
        case .losesRepeatedField:
            fields["X-Repeat"] = fields["X-Repeat"]
        case .sortsFields:
            fields = HeaderFields(fields.sorted { $0.name < $1.name })
        case .addsField:
            fields.append(name: "X-Added", value: "by the transport")
        case .losesQuery:
            return (try? request.replacing(path: request.target.path)) ?? request
        case .losesBody:
            return (try? request.replacing(body: request.body?.data.map { $0.dropLast() })) ?? request
        case .losesStreams:
            guard let body = request.body, body.data == nil else { return request }
            return (try? request.replacing(body: Data())) ?? request
        case .keepsConnections:
            return (try? request.replacing(body: request.body?.data)) ?? request
        default: return request
        }
        return (try? request.replacing(headerFields: fields)) ?? request
    }
}

extension TransportRequest {
    fileprivate func replacing(path: String) throws -> TransportRequest {
        try TransportRequest(
            method: method, base: BaseURL(scheme: target.scheme, host: target.host, port: target.port),
            path: URLPath(path), headerFields: headerFields, body: body?.data)
    }

    /// Without what the public initializer isn't given, such as the fresh
    /// connection.
    fileprivate func replacing(body: Data?) throws -> TransportRequest {
        try TransportRequest(
            method: method, base: BaseURL(scheme: target.scheme, host: target.host, port: target.port),
            path: URLPath(target.path), headerFields: headerFields, body: body)
    }
}

extension TransportBodyReader {
    /// Reads the whole body, however long that takes.
    fileprivate func readAll() throws -> Data {
        var body = Data()
        var buffer = [UInt8](repeating: 0, count: 1 << 18)
        while true {
            guard let count = try buffer.withUnsafeMutableBytes({ try read(into: $0) }) else { return body }
            body.append(contentsOf: buffer.prefix(count))
            guard count == 0 else { continue }
            let isReadable = DispatchSemaphore(value: 0)
            whenReadable { isReadable.signal() }
            isReadable.wait()
        }
    }
}

/// What a transport must not keep from one exchange for the next.
private final class Memory: Sendable {
    let cookies = Shared<[String]>([])
    let bodies = Shared<[Data]>([])
    let responses = Shared<[String: [TransportEvent]]>([:])
    /// Whether an exchange has left a connection behind.
    let hasFinished = Shared(false)
}

/// Hands events on, with the fault.
private final class Filter: Sendable {
    private let fault: FaultyTransport.Fault
    private let exchange: FaultyExchange
    private let memory: Memory
    private let request: TransportRequest
    private let isOverKeptConnection: Bool
    private let held = Shared<Data?>(nil)
    private let status = Shared(0)
    private let events = Shared<[TransportEvent]>([])

    init(_ fault: FaultyTransport.Fault, _ exchange: FaultyExchange, _ memory: Memory, _ request: TransportRequest) {
        (self.fault, self.exchange, self.memory, self.request) = (fault, exchange, memory, request)
        isOverKeptConnection = memory.hasFinished.value
    }

    /// Whether a failure starts the exchange again.
    var repeatsRequest: Bool {
        guard status.value == 0, !exchange.isCancelled.value else { return false }
        return switch fault {
        case .repeatsFailed: true
        case .repeatsOverKeptConnections: isOverKeptConnection
        case .repeatsPosts: request.method == "POST"
        default: false
        }
    }

    func receive(_ event: TransportEvent) {
        if fault == .answersFromMemory { events.change { $0.append(event) } }
        switch event {
        case .sent where fault == .reportsNothingOfStreams && request.body?.data == nil: break
        case .sent(let count): exchange.give(.sent(fault == .miscountsSent ? count + 1 : count))
        case .response(let head): receive(head)
        case .data(let data): receive(data)
        case .measured(let metrics):
            exchange.give(.measured(metrics))
            if fault == .measuresTwice { exchange.give(.measured(metrics)) }
        case .finished: end(.finished)
        case .failed(let failure): receive(failure)
        }
    }

    private func receive(_ head: TransportResponse) {
        status.change { $0 = head.statusCode }
        if fault == .bodyBeforeHead { exchange.give(.data(Data([1]))) }
        if fault == .showsInterim { exchange.give(.response(TransportResponse(statusCode: 103))) }
        if fault == .keepsCookies, let cookie = head.headerFields["Set-Cookie"] {
            memory.cookies.change { $0.append(cookie) }
        }
        guard fault == .joinsCookies else { return exchange.give(.response(head)) }
        var fields = head.headerFields
        fields["Set-Cookie"] = fields.values(for: "Set-Cookie").joined(separator: ", ")
        exchange.give(.response(TransportResponse(statusCode: head.statusCode, headerFields: fields)))
    }

    private func receive(_ data: Data) {
        switch fault {
        case .hidesBodyOf401 where status.value == 401: break
        case .leavesCoding: exchange.give(.data(Data([0x1F, 0x8B])))
        case .losesLastPart:
            if let held = held.value { exchange.give(.data(held)) }
            held.change { $0 = data }
        case .mixesBodies:
            memory.bodies.change { $0.append(data) }
            exchange.give(.data(memory.bodies.value[0]))
        case .losesPausedParts where exchange.wasPaused.value: break
        case .overlappingEvents:
            let isDone = DispatchSemaphore(value: 0)
            Thread.detachNewThread { [exchange] in
                for byte in data.prefix(50) { exchange.give(.data(Data([byte]))) }
                isDone.signal()
            }
            for byte in data.prefix(50) { exchange.give(.data(Data([byte]))) }
            isDone.wait()
        default: exchange.give(.data(data))
        }
    }

    private func receive(_ failure: TransportFailure) {
        switch fault {
        case .cutIsComplete where status.value != 0: end(.finished)
        case .cutHeadIsComplete where status.value == 0, .refusedHeadIsComplete where status.value == 0:
            exchange.give(.response(TransportResponse(statusCode: 200)))
            end(.finished)
        case .claimsNotSent: end(.failed(TransportFailure(failure.error, delivery: .notSent)))
        case .claimsKeptNotSent where isOverKeptConnection && status.value == 0,
            .claimsCancelledNotSent where exchange.isCancelled.value && status.value == 0 && request.body != nil:
            end(.failed(TransportFailure(failure.error, delivery: .notSent)))
        case .noEndAfterCancel where exchange.isCancelled.value: break
        case .forgetsEndWhenCancelledInside where exchange.wasCancelledInside.value: break
        case .finishesCancelled where exchange.isCancelled.value:
            if status.value == 0 { exchange.give(.response(TransportResponse(statusCode: 200))) }
            end(.finished)
        case .eventInsideCancel where exchange.isCancelled.value: break
        default: end(.failed(failure))
        }
    }

    private func end(_ event: TransportEvent) {
        if fault == .noEnd { return }
        if fault == .measuresUnasked, !request.wantsMetrics { exchange.give(.measured(TransportMetrics())) }
        exchange.hasEnded.change { $0 = true }
        if case .finished = event {
            memory.hasFinished.change { $0 = true }
            let events = events.value
            memory.responses.change { $0[request.target.absoluteString] = events }
        }
        exchange.give(event)
        if fault == .twoEnds { exchange.give(event) }
        if fault == .dataAfterTheEnd { exchange.give(.data(Data([1]))) }
    }
}

private final class FaultyExchange: TransportExchange {
    let isReplaced = Shared(false)
    let isCancelled = Shared(false)
    let wasCancelledInside = Shared(false)
    let wasPaused = Shared(false)
    let hasEnded = Shared(false)
    private let fault: FaultyTransport.Fault
    private let receive: @Sendable (TransportEvent) -> Void
    private let receiver = Shared<ObjectIdentifier?>(nil)
    private let base = Shared<(any TransportExchange)?>(nil)
    private let waiting = Shared(Waiting())

    /// What is read while the exchange is paused.
    private struct Waiting {
        var events: [TransportEvent] = []
        var isPaused = false
        var isGiving = false
    }

    init(_ fault: FaultyTransport.Fault, _ receive: @escaping @Sendable (TransportEvent) -> Void) {
        (self.fault, self.receive) = (fault, receive)
    }

    func begin(_ exchange: any TransportExchange) {
        base.change { $0 = exchange }
        if isCancelled.value { exchange.cancel() }
    }

    func give(_ event: TransportEvent) {
        guard fault == .readsWhilePaused else { return handOn(event) }
        waiting.change { $0.events.append(event) }
        giveWaiting()
    }

    private func giveWaiting() {
        while true {
            let next = waiting.change { waiting -> TransportEvent? in
                guard !waiting.isPaused, !waiting.isGiving, !waiting.events.isEmpty else { return nil }
                waiting.isGiving = true
                return waiting.events.removeFirst()
            }
            guard let next else { return }
            handOn(next)
            waiting.change { $0.isGiving = false }
        }
    }

    private func handOn(_ event: TransportEvent) {
        receiver.change { $0 = ObjectIdentifier(Thread.current) }
        receive(event)
        receiver.change { $0 = nil }
    }

    func cancel() {
        if receiver.value == ObjectIdentifier(Thread.current) { wasCancelledInside.change { $0 = true } }
        let isFirst = isCancelled.change { isCancelled in
            defer { isCancelled = true }
            return !isCancelled
        }
        if fault == .lateCancelReports, hasEnded.value { receive(.failed(TransportFailure(URLError(.cancelled)))) }
        if fault == .eventInsideCancel, isFirst, !hasEnded.value {
            receive(.failed(TransportFailure(URLError(.cancelled))))
        }
        base.value?.cancel()
    }

    func pause() -> Bool {
        wasPaused.change { $0 = true }
        waiting.change { $0.isPaused = true }
        if [.ignoresPause, .losesPausedParts, .readsWhilePaused].contains(fault) { return true }
        return base.value?.pause() ?? false
    }

    func resume() {
        waiting.change { $0.isPaused = false }
        giveWaiting()
        base.value?.resume()
    }
}

/// A value under a lock.
final class Shared<Value: Sendable>: @unchecked Sendable {
    // `stored` is accessed only under `lock`.
    private let lock = NSLock()
    private var stored: Value

    init(_ value: Value) { stored = value }

    var value: Value { lock.withLock { stored } }

    @discardableResult
    func change<Result>(_ body: (inout Value) -> Result) -> Result { lock.withLock { body(&stored) } }
}
