import AtomNetworkingTesting
import Foundation
import Testing

@testable import AtomNetworking

@Suite(.timeLimit(.minutes(5))) struct ExchangeCookieTests {
    private static func atom(_ transport: ScriptedTransport, time: any TimeSource) -> Atom {
        var configuration = ServiceConfiguration(dispatchQueue: DispatchQueue(label: "completions"))
        configuration.transport = transport
        return Atom(configuration, time: time)
    }

    /// Answers with one cookie a call.
    private static func transport(_ lines: String...) -> ScriptedTransport {
        let left = Locked(lines)
        return ScriptedTransport.held { exchange in
            let line = left.with { $0.isEmpty ? nil : $0.removeFirst() }
            exchange.answer(headers: line.map { [("Set-Cookie", $0)] } ?? [])
        }
    }

    private static func cookies(_ transport: ScriptedTransport) -> [String?] {
        transport.requests.map { $0.headerFields["Cookie"] }
    }

    @Test func aCookieExpiresByTheClockOfTheService() async throws {
        let time = ManualClock()
        let transport = Self.transport("a=1; Path=/; Max-Age=100", "b=2; Path=/; Secure")
        let atom = Self.atom(transport, time: time)
        for seconds in [0, 60, 39, 1] as [Int64] {
            time.advance(by: .seconds(seconds))
            _ = try await atom.enqueue(PathEndpoint(requiresAuthorization: false)).resume()
        }
        #expect(Self.cookies(transport) == [nil, "a=1", "a=1; b=2", "b=2"])
    }

    @Test func theAttemptAfterARedirectCarriesTheCookieThatCameWithIt() async throws {
        let transport = ScriptedTransport.held { exchange in
            switch exchange.request.target.url?.path {
            case "/a": exchange.answer(status: 302, headers: [("Location", "/b"), ("Set-Cookie", "a=1; Path=/")])
            default: exchange.answer()
            }
        }
        let atom = Self.atom(transport, time: ManualClock())
        _ = try await atom.enqueue(PathEndpoint(pathText: "/a", requiresAuthorization: false)).resume()
        #expect(Self.cookies(transport) == [nil, "a=1"])
    }

    @Test func theAttemptAfterA401CarriesTheCookieThatCameWithIt() async throws {
        let fixture = try SessionFixture { exchange in
            switch (exchange.request.target.url?.path, exchange.token) {
            case ("/token", _): exchange.grant(1)
            case (_, "A0"): exchange.answer(status: 401, headers: [("Set-Cookie", "a=1; Path=/")])
            default: exchange.answer()
            }
        }
        #expect(await fixture.call().status() == 200)
        #expect(fixture.sent.map { $0.request.headerFields["Cookie"] } == [nil, "a=1"])
    }

    @Test func anAnswerNobodyWaitsForSetsNothing() async throws {
        let transport = ScriptedTransport.held(endsOnCancel: false)
        let atom = Self.atom(transport, time: ManualClock())
        let call = Call()
        call.keep(atom.enqueue(PathEndpoint(requiresAuthorization: false)).resume { call.heard($0) })
        let exchange = await transport.exchange(0)
        call.cancel()
        exchange.answer(headers: [("Set-Cookie", "a=1; Path=/")])
        _ = await call.outcome()
        let next = Call()
        next.keep(atom.enqueue(PathEndpoint(requiresAuthorization: false)).resume { next.heard($0) })
        #expect(await transport.exchange(1).request.headerFields["Cookie"] == nil)
        await transport.exchange(1).answer()
        _ = await next.outcome()
    }

    @Test func noLockIsHeldWhileCookiesAreKept() async throws {
        // Foundation's storage tells observers, who may do what they like: here, to cancel the request.
        let transport = ScriptedTransport.held(endsOnCancel: false)
        let time = AskedTimeSource()
        let atom = Self.atom(transport, time: time)
        let call = Call()
        call.keep(atom.enqueue(PathEndpoint(requiresAuthorization: false)).resume { call.heard($0) })
        let exchange = await transport.exchange(0)
        let isCancelled = Signal()
        let wasHeld = Locked<Bool?>(nil)
        time.onDate = {
            let done = DispatchSemaphore(value: 0)
            Thread.detachNewThread {
                call.cancel()
                done.signal()
            }
            wasHeld.with { $0 = done.wait(timeout: .now() + 250) == .timedOut }
            isCancelled.raise()
        }
        DispatchQueue.global().async { exchange.answer(headers: [("Set-Cookie", "a=1")]) }
        await isCancelled.wait()
        #expect(wasHeld.value == false)
        guard case .cancelled = await call.error() else { return #expect(Bool(false), "It was answered") }
    }
}

/// A clock that tells when it is asked for the date.
private final class AskedTimeSource: TimeSource, @unchecked Sendable {
    private let base = ManualClock()
    private let hook = Locked<(@Sendable () -> Void)?>(nil)

    var onDate: (@Sendable () -> Void)? {
        get { hook.value }
        set { hook.with { $0 = newValue } }
    }

    var now: MonotonicInstant { base.now }
    var date: Date {
        hook.value?()
        return base.date
    }
    func makeAlarm(ring: @escaping @Sendable () -> Void) -> any Alarm { base.makeAlarm(ring: ring) }
}
