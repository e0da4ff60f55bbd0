import AtomNetworkingTesting
import Foundation
import Testing

@testable import AtomNetworking

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A status that isn't acceptable is the outcome, with as much of its body as could be read.
@Suite("An error whose body can't be read to its end", .limited)
struct UnreadableErrorTests {
    private static func head(_ status: Int, _ fields: [HeaderItem] = []) -> TransportEvent {
        .response(TransportResponse(statusCode: status, headerFields: HeaderFields(fields)))
    }

    /// What keeps the rest of the body away.
    enum Fault: CaseIterable, Sendable {
        case lost, unreadable, silence, time, size
    }

    private func happen(_ fault: Fault, to exchange: ScriptedExchange, _ time: ManualClock) {
        switch fault {
        case .lost: exchange.fail(.networkConnectionLost)
        case .unreadable: exchange.fail(.cannotDecodeRawData)
        case .silence: time.advance(by: .seconds(10))
        case .time:
            for _ in 0..<6 {
                time.advance(by: .seconds(5))
                exchange.send(.data(Data("b".utf8)))
            }
        case .size: exchange.send(.data(Data(count: 1_000)))
        }
    }

    private func start(
        _ time: ManualClock, _ transport: ScriptedTransport, codes: ClosedRange<Int> = 200...299,
        policy: RetryPolicy = .standard
    ) -> Call {
        var configuration = ServiceConfiguration(
            dispatchQueue: DispatchQueue(label: "completions"), timeout: ServiceTimeout(request: 10, resource: 30))
        configuration.transport = transport
        configuration.retryPolicy = policy
        configuration.maximumResponseSize = 100
        let call = Call()
        let endpoint = RecordingEndpoint(path: "/x", acceptableStatusCodes: codes)
        call.keep(Atom(configuration, time: time, random: { 0.5 }).enqueue(endpoint).resume { call.heard($0) })
        return call
    }

    @Test("The status is told, says that the rest is missing, and is no reason to try again", arguments: Fault.allCases)
    func status(fault: Fault) async throws {
        let (time, transport) = (ManualClock(), ScriptedTransport.held())
        let call = start(time, transport)
        let exchange = transport.exchanges[0]
        exchange.send(Self.head(404, [.init(name: "Content-Type", value: "text/plain")]))
        exchange.send(.data(Data("no such hush".utf8)))
        happen(fault, to: exchange, time)
        let error = try #require(await call.error())
        guard case .response(let response) = error else { throw Unexpected("\(error)") }
        #expect(response.statusCode == 404 && error.delivery == .answered && error.situation == .notFound)
        // Whoever ends it at a deadline doesn't have what is in the sink.
        let isDeadline = fault == .silence || fault == .time
        #expect(response.data == (isDeadline ? Data() : Data("no such hush".utf8)))
        #expect(error.description.contains("HTTP 404 Not Found") && error.description.contains("incomplete"))
        #expect(!error.description.contains("hush"), "of what is cut nobody knows whether it is a secret")
        #expect(error.attempts == [.status(404)] && error.request?.attempts == 1)
        #expect(exchange.isCancelled == (isDeadline || fault == .size))
        #expect(transport.exchanges.count == 1 && call.count == 1)
    }

    @Test("A 503 stays one for the policy, and for whoever asks when to come back", arguments: Fault.allCases)
    func busy(fault: Fault) async throws {
        let (time, transport) = (ManualClock(), ScriptedTransport.held())
        let call = start(time, transport)
        transport.exchanges[0].send(Self.head(503))
        time.advance(by: .milliseconds(25))
        // A wait beyond the deadline.
        transport.exchanges[1].send(Self.head(503, [.init(name: "Retry-After", value: "60")]))
        let date = time.date.addingTimeInterval(60)
        happen(fault, to: transport.exchanges[1], time)
        let error = try #require(await call.error())
        #expect(error.attempts == [.status(503), .status(503)])
        #expect(error.retryAt.map { abs($0.timeIntervalSince(date)) < 60 } == true)
        #expect(RetryPolicy.standard.isTemporary(error) && transport.exchanges.count == 2)
    }

    @Test("A response that the endpoint accepts is complete or an error of the connection", arguments: [200, 404])
    func accepted(status: Int) async throws {
        let (time, transport) = (ManualClock(), ScriptedTransport.held())
        let call = start(time, transport, codes: 200...404, policy: .none)
        transport.exchanges[0].send(Self.head(status))
        transport.exchanges[0].send(.data(Data("half".utf8)))
        transport.exchanges[0].fail(.networkConnectionLost)
        #expect(await call.outcome().urlError?.code == .networkConnectionLost)
    }

    @Test("A cancellation is one, also while an error is read")
    func cancelled() async {
        let (time, transport) = (ManualClock(), ScriptedTransport.held())
        let call = start(time, transport)
        transport.exchanges[0].send(Self.head(404))
        call.cancel()
        #expect(await call.error()?.isCancelled == true)
    }

    @Test("A stream and a download also tell the status of an error whose body breaks off", arguments: [false, true])
    func destinations(isDownload: Bool) async throws {
        let (folder, transport) = (try TransferFolder(), ScriptedTransport.held())
        let file = try folder.file("a")
        var configuration = ServiceConfiguration(dispatchQueue: DispatchQueue(label: "completions"))
        configuration.transport = transport
        let service = Atom(configuration, time: ManualClock())
            .enqueue(RecordingEndpoint(path: "/x", acceptableStatusCodes: isDownload ? 200...499 : 200...299))
        let task = Task {
            if isDownload { try await service.download(to: file) } else { _ = try await service.bytes() }
        }
        let exchange = await transport.exchange(0)
        exchange.send(Self.head(404))
        exchange.send(.data(Data("no".utf8)))
        exchange.fail(.networkConnectionLost)
        guard case .failure(let error) = await task.result, case .response(let response)? = error as? AtomError else {
            throw Unexpected("no response")
        }
        #expect(response.statusCode == 404 && response.data == Data("no".utf8))
        #expect(folder.names == [])
    }

    @Test("A 401 that there is nothing to refresh with is an error without its body", arguments: [true, false])
    func rejected(isAccepted: Bool) async throws {
        let tokens = RecordingTokens(TokenCredential(accessToken: "A0", expiresAt: .distantFuture, refreshToken: ""))
        let session = try SessionFixture(tokens: tokens)
        let call = Call()
        let endpoint = RecordingEndpoint(path: "/x", acceptableStatusCodes: isAccepted ? 200...401 : 200...299)
        call.keep(session.atom.enqueue(endpoint).resume { call.heard($0) })
        let exchange = await session.transport.exchange(0)
        exchange.send(Self.head(401), .data(Data("half".utf8)))
        exchange.fail(.networkConnectionLost)
        let error = try #require(await call.error())
        #expect(error.isAuthorizationFailure != isAccepted && error.delivery == .answered)
        #expect(isAccepted || error.description.contains("incomplete"))
    }

    @Test("What a token endpoint's error would have said isn't guessed", arguments: [400, 401, 503])
    func tokenEndpoint(status: Int) async throws {
        let session = try SessionFixture(lifetime: 0)
        let call = session.call()
        let refresh = await session.refresh()
        refresh.send(Self.head(status))
        refresh.send(.data(Data(#"{"error":"invalid_grant"}"#.utf8)))
        refresh.fail(.networkConnectionLost)
        let error = try #require(await call.error())
        guard case .authentication(.refreshFailed(let cause, _, _)) = error else { throw Unexpected("\(error)") }
        #expect((cause as? AtomError)?.delivery == .answered && !error.isBadRequest)
        // The session goes on.
        session.time.advance(by: .seconds(60))
        let next = session.call()
        await session.refresh(1).grant(1)
        await session.transport.exchange(2).answer()
        #expect(await next.status() == 200)
    }
}
