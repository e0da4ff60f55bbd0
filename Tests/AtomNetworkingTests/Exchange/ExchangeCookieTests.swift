import AtomNetworkingTesting
import Foundation
import Testing

@testable import AtomNetworking

@Suite(.limited) struct ExchangeCookieTests {
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

    // MARK: Whose they are

    /// Answers with a cookie that is named after the token, and shows each cookie that was sent.
    private func session(store: (any TokenCredentialStore)? = nil) throws -> SessionFixture {
        try SessionFixture(store: store) { exchange in
            guard exchange.request.target.url?.path != "/late" else { return }
            exchange.answer(headers: [("Set-Cookie", "sid=\(exchange.token ?? "nobody"); Path=/")])
        }
    }

    private func cookies(_ session: SessionFixture) -> [String?] {
        session.sent.map { $0.request.headerFields["Cookie"] }
    }

    @Test(arguments: ["sign-out and sign-in", "sign-in", "the app's variable", "another process"])
    func cookiesGoWithTheirPerson(by change: String) async throws {
        let disk = RecordingTokenCredentialStore(.issued(0))
        let session = try session(store: change == "the app's variable" ? nil : disk)
        for _ in 0..<2 { _ = await session.call().outcome() }
        switch change {
        case "sign-in": try await session.atom.signIn(with: .issued(5))
        case "the app's variable": session.tokens.put(.issued(5))
        case "another process":
            disk.stored = .issued(5)
            let actor = try #require(session.atom.manager.session)
            _ = actor.gate.act { $0.observed(.issued(5), now: actor.moment) }
        default:
            try await session.atom.signOut()
            try await session.atom.signIn(with: .issued(5))
        }
        for _ in 0..<2 { _ = await session.call().outcome() }
        _ = await session.call(signed: false).outcome()
        #expect(cookies(session) == [nil, "sid=A0", nil, "sid=A5", "sid=A5"])
    }

    @Test(arguments: [true, false], [true, false])
    func whatAnAttemptOfThePersonBeforeBringsHomeIsDropped(isSigned: Bool, isRedirected: Bool) async throws {
        let session = try session()
        let late = session.call("/late", signed: isSigned)
        try await session.atom.signIn(with: .issued(5))
        // Another origin, and the same place for a cookie, which has no port.
        if isRedirected { session.sent.first?.redirect(to: "https://api.example.com:8443/late") }
        session.sent.last?.answer(headers: [("Set-Cookie", "sid=late; Path=/")])
        #expect(await late.status() == 200)
        _ = await session.call().outcome()
        #expect(cookies(session) == (isRedirected ? [nil, nil, nil] : [nil, nil]))
    }

    @Test func aCookieOfALoginStaysIfNobodyWasSignedIn() async throws {
        let session = try session(store: RecordingTokenCredentialStore())
        try await session.atom.loadSession()
        _ = await session.call("/login", signed: false).outcome()
        try await session.atom.signIn(with: .issued(1))
        _ = await session.call().outcome()
        #expect(cookies(session) == [nil, "sid=nobody"])
    }

    @Test func aLoginWithTheAppsVariableKeepsItsOwnCookie() async throws {
        let session = try session()
        _ = await session.call().outcome()
        session.tokens.put(.empty)
        _ = await session.call("/login", signed: false).outcome()
        session.tokens.put(.issued(5))
        _ = await session.call().outcome()
        #expect(cookies(session) == [nil, nil, "sid=nobody"])
    }

    @Test func aRefreshKeepsThem() async throws {
        let session = try SessionFixture(lifetime: 100) { exchange in
            if exchange.request.target.url?.path == "/token" { return exchange.grant(1) }
            exchange.answer(headers: [("Set-Cookie", "sid=1; Path=/")])
        }
        _ = await session.call().outcome()
        session.time.advance(by: .seconds(100))
        _ = await session.call().outcome()
        #expect(session.refreshes.count == 1)
        #expect(cookies(session) == [nil, "sid=1"])
    }

    @Test func theAppRemovesThem() async throws {
        let session = try session()
        _ = await session.call().outcome()
        let late = session.call("/late")
        session.atom.removeCookies()
        session.sent.last?.answer(headers: [("Set-Cookie", "sid=late; Path=/")])
        #expect(await late.status() == 200)
        _ = await session.call().outcome()
        _ = await session.call().outcome()
        #expect(cookies(session) == [nil, "sid=A0", nil, "sid=A0"])
    }

    /// A request to a service without a session.
    private struct Page: Requestable {
        var host = "api.example.com"
        var pathText: String
        func baseURL() throws(AtomError) -> BaseURL { try BaseURL(host: host) }
        func path() throws(AtomError) -> URLPath { try URLPath(pathText) }
    }

    @Test(arguments: ["redirect", "retry", "slot"])
    func nothingIsSentWithTheCookiesOfWhoeverComesNext(after event: String) async throws {
        let logins = Locked(["Ada", "Bo"])
        let transport = ScriptedTransport.held { exchange in
            guard exchange.request.path == "/login" else { return }
            let name = logins.with { $0.removeFirst() }
            exchange.answer(headers: [("Set-Cookie", "sid=\(name); Domain=example.com; Path=/")])
        }
        let time = ManualClock()
        var configuration = ServiceConfiguration(dispatchQueue: DispatchQueue(label: "completions"))
        configuration.transport = transport
        configuration.retryPolicy = .standard
        configuration.maximumExchangesPerOrigin = event == "slot" ? 1 : nil
        let atom = Atom(configuration, time: time)
        func call(_ path: String, on host: String = "api.example.com") -> Call {
            let call = Call()
            call.keep(atom.enqueue(Page(host: host, pathText: path)).resume { call.heard($0) })
            return call
        }
        func login() async { #expect(await call("/login", on: "www.example.com").status() == 200) }
        await login()
        let first = event == "slot" ? call("/first") : nil
        let late = call("/late")
        let exchange = await transport.exchange(1)
        if event == "retry" {
            exchange.answer(status: 503)
            #expect(await time.waitForAlarm(within: .seconds(5)))
        }
        atom.removeCookies()
        await login()
        switch event {
        case "redirect": exchange.answer(status: 302, headers: [("Location", "/next")])
        case "retry": time.advance(by: .seconds(5))
        default:
            exchange.answer()
            #expect(await first?.status() == 200)
        }
        await transport.exchange(3).answer(headers: [("Set-Cookie", "late=1; Path=/")])
        #expect(await late.status() == 200)
        #expect(Self.cookies(transport) == [nil, "sid=Ada", nil, nil])
        let next = call("/next")
        await transport.exchange(4).answer()
        #expect(await next.status() == 200)
        #expect(Self.cookies(transport).last == "sid=Bo")
    }

    @Test func aRequestOfTheSessionOutlivesTheRenewalOfAnotherProcess() async throws {
        let disk = RecordingTokenCredentialStore(.issued(0))
        let session = try session(store: disk)
        _ = await session.call().outcome()
        let late = session.call("/late")
        #expect(await session.transport.exchange(1).request.headerFields["Cookie"] == "sid=A0")
        disk.stored = .issued(5)
        await session.transport.exchange(1).answer(status: 401)
        await session.transport.exchange(2).answer()
        #expect(await late.status() == 200)
        // Nobody can tell whose the other tokens are.
        #expect(cookies(session) == [nil, "sid=A0", nil])
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
