import AsyncHTTPClient
import AtomNetworking
import Foundation
import NIOCore
import NIOHTTP1
import NIOHTTPCompression

/// One exchange: the delegate of its task, and the handle to cancel it.
///
/// AsyncHTTPClient calls a delegate on its task's event loop, one call after the other, and always completes the task's
/// future there exactly once. The last event comes from that future, because some failures don't reach the delegate.
///
/// The server may have closed a pooled connection just before the request was sent on it. While AsyncHTTPClient has
/// written nothing of the request, the exchange passes it on again for another connection. Written bytes are never
/// written again.
final class ClientExchange: HTTPClientResponseDelegate, TransportExchange, @unchecked Sendable {
    typealias Response = Void

    /// How often the exchange tries another connection.
    private static let changesOfConnection = 3

    private let request: HTTPClient.Request
    private let client: OwnedClient
    private let loops: LoopShares
    private let place: Int
    private let turn: LoopTurn
    private let mayChangeConnection: Bool
    /// The body, unless it is sent in one part.
    private let stream: RequestStream?
    /// The deadline for the request to get a connection.
    private let connectDeadline: NIODeadline

    // Accessed only under `lock`.
    private let lock = NSLock()
    private var task: HTTPClient.Task<Void>?
    private var isCancelled = false
    /// Whether no more of the body is wanted for now.
    private var isPaused = false
    /// Lets AsyncHTTPClient read on; `nil` unless it waits.
    private var paused: EventLoopPromise<Void>?
    private var isReceiving = false

    // Accessed only on the loop.
    /// Until the last event: it may hold the exchange.
    private var receiver: (@Sendable (TransportEvent) -> Void)?
    private var stage = ClientFailure.Stage.unsent
    private var head: HTTPResponseHead?
    private var isHalfDecoded = false
    private var hasData = false
    private var lastEvent: TransportEvent?
    private var changes = 0

    init(
        _ request: HTTPClient.Request, client: OwnedClient, loops: LoopShares, idleTimeout: Duration,
        mayChangeConnection: Bool, stream: RequestStream? = nil, receive: @escaping @Sendable (TransportEvent) -> Void
    ) {
        self.request = request
        self.client = client
        self.loops = loops
        (place, turn) = loops.take()
        self.mayChangeConnection = mayChangeConnection
        self.stream = stream
        receiver = receive
        // A second later than the service's own deadline, which should end the exchange.
        connectDeadline = .now() + .seconds(min(max(idleTimeout.components.seconds, 0), 31_536_000) + 2)
    }

    /// Passes the request to AsyncHTTPClient.
    func start() {
        guard !lock.withLock({ isCancelled }) else { return turn.loop.execute { [self] in endUnsent() } }
        let task = client.client.execute(
            request: request, delegate: self, eventLoop: .delegate(on: turn.loop), deadline: nil, logger: nil)
        let isUnwanted = lock.withLock {
            self.task = task
            return isCancelled
        }
        if isUnwanted { Self.cancel(task) }
        task.futureResult.whenComplete { [self] result in
            switch result {
            case .success: end(with: .finished)
            case .failure(let error): fail(error)
            }
        }
    }

    func cancel() {
        let task = lock.withLock {
            isCancelled = true
            return self.task
        }
        if let task { Self.cancel(task) }
    }

    var isBehind: Bool { lock.withLock { isReceiving } }

    private func receive(_ event: TransportEvent) {
        lock.withLock { isReceiving = true }
        receiver?(event)
        lock.withLock { isReceiving = false }
    }

    func pause() -> Bool {
        lock.withLock { isPaused = true }
        return true
    }

    func resume() {
        let paused = lock.withLock {
            isPaused = false
            defer { self.paused = nil }
            return self.paused
        }
        paused?.succeed()
    }

    /// Cancels asynchronously: on the event loop, a cancelled task ends before the call returns.
    private static func cancel(_ task: HTTPClient.Task<Void>) {
        task.eventLoop.execute { task.cancel() }
    }

    private func end(with event: TransportEvent) {
        lastEvent = event
        let paused = lock.withLock {
            task = nil
            defer { self.paused = nil }
            return self.paused
        }
        stream?.close()
        // No promise may be forgotten.
        paused?.succeed()
        turn.end(self)
    }

    /// Called once, in the turn of the loop in which the exchange ended.
    func tellEnd() {
        loops.giveBack(place)
        if let lastEvent { receive(lastEvent) }
        receiver = nil
    }

    /// Ends an exchange that was cancelled before AsyncHTTPClient got it.
    private func endUnsent() {
        let failure = ClientFailure(error: HTTPClientError.cancelled, stage: .unsent, isCancelled: true)
        end(with: .failed(failure.transportFailure))
    }

    private func fail(_ error: any Error) {
        let isCancelled = lock.withLock { self.isCancelled }
        if isCancelled {
            // The event loop may have written parts that have not been reported yet.
            stage = max(stage, .sent)
        } else if stage == .unsent, canChangeConnection(after: error) {
            return start()
        } else if isEndWithoutBody(error) {
            return end(with: .finished)
        }
        if !isCancelled, let error = error as? AtomError {
            // The body could not be read.
            return end(with: .failed(TransportFailure(error, delivery: stage == .unsent ? .notSent : .maybeSent)))
        }
        end(with: .failed(ClientFailure(error: error, stage: stage, isCancelled: isCancelled).transportFailure))
    }

    private func canChangeConnection(after error: any Error) -> Bool {
        if let error = error as? HTTPClientError {
            switch error {
            case .remoteConnectionClosed: return looksForAnotherConnection()
            // The client's timeout is shorter than the request's idle timeout.
            case .connectTimeout, .tlsHandshakeTimeout, .getConnectionFromPoolTimeout:
                return NIODeadline.now() < connectDeadline
            default: return false
            }
        }
        if case .ioOnClosedChannel? = error as? ChannelError { return looksForAnotherConnection() }
        return false
    }

    private func looksForAnotherConnection() -> Bool {
        changes += 1
        return mayChangeConnection && changes <= Self.changesOfConnection
    }

    /// Whether the decoder expects a body that can't exist: the response to
    /// HEAD contains the content coding of a GET (RFC 9110 §9.3.2).
    private func isEndWithoutBody(_ error: any Error) -> Bool {
        guard let head, !hasData, error is NIOHTTPDecompression.ExtraDecompressionError else { return false }
        return request.method == .HEAD || head.status == .noContent || head.status == .notModified
            || head.headers.first(name: "Content-Length") == "0"
    }
}

// MARK: - Events of the task

extension ClientExchange {
    func didSendRequestHead(task: HTTPClient.Task<Void>, _ head: HTTPRequestHead) {
        stage = max(stage, .sent)
    }

    func didSendRequestPart(task: HTTPClient.Task<Void>, _ part: IOData) {
        // Bytes that are written after the end of the exchange aren't reported as an event.
        if lastEvent == nil, part.readableBytes > 0 { receive(.sent(part.readableBytes)) }
    }

    func didReceiveHead(task: HTTPClient.Task<Void>, _ head: HTTPResponseHead) -> EventLoopFuture<Void> {
        if let reason = head.fault {
            stage = max(stage, .sent)
            return task.eventLoop.makeFailedFuture(ClientFailure.Refusal.head(reason))
        }
        stage = .answered
        self.head = head
        isHalfDecoded = head.isHalfDecoded
        var fields: [HeaderItem] = []
        fields.reserveCapacity(head.headers.count)
        for (name, value) in head.headers { fields.append(HeaderItem(name: name, value: value)) }
        receive(
            .response(TransportResponse(statusCode: Int(head.status.code), headerFields: HeaderFields(fields))))
        return task.eventLoop.makeSucceededVoidFuture()
    }

    /// More data is read after this returns, so the receiver controls the pace.
    func didReceiveBodyPart(task: HTTPClient.Task<Void>, _ buffer: ByteBuffer) -> EventLoopFuture<Void> {
        if isHalfDecoded, buffer.readableBytes > 0 {
            return task.eventLoop.makeFailedFuture(ClientFailure.Refusal.body("it has more than one content coding"))
        }
        if buffer.readableBytes > 0 {
            hasData = true
            receive(.data(buffer.withUnsafeReadableBytes { Data($0) }))
        }
        return lock.withLock {
            guard isPaused, !isCancelled else { return task.eventLoop.makeSucceededVoidFuture() }
            let promise = task.eventLoop.makePromise(of: Void.self)
            paused = promise
            return promise.futureResult
        }
    }

    func didFinishRequest(task: HTTPClient.Task<Void>) throws {}
}

extension HTTPResponseHead {
    /// Whether AsyncHTTPClient decodes one of several content codings, and would pass the others on as the content.
    fileprivate var isHalfDecoded: Bool {
        let codings = headers[canonicalForm: "Content-Encoding"]
        return codings.count > 1 && ["gzip", "deflate"].contains(codings[0].lowercased())
    }

    /// Why it isn't known how the body is coded (RFC 9112 §6.1): AsyncHTTPClient
    /// would take the last coding, or the chunks, for all there is.
    fileprivate var fault: String? {
        let codings = headers["Transfer-Encoding"]
        if codings.isEmpty { return nil }
        if version == .http1_0 { return "HTTP/1.0 has no transfer codings" }
        return codings.count == 1 && codings[0].lowercased() == "chunked"
            ? nil : "it has a transfer coding other than “chunked”"
    }
}
