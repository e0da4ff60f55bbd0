import AtomNetworkingTesting
import Foundation
import Testing

@testable import AtomNetworking

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite(.limited) struct CookieTests {
    /// Responds to `/set…` with the cookies and to other paths with the
    /// received `Cookie` field.
    private static func handler(_ cookies: String...) -> LoopbackServer.Handler {
        { request in
            request.path.hasPrefix("/set")
                ? .empty(204, headers: cookies.map { ("Set-Cookie", $0) }) : .text(request["Cookie"] ?? "none")
        }
    }

    @Test(arguments: TransportUnderTest.all)
    func aCookieIsSentBack(over transport: TransportUnderTest) async throws {
        let server = try LoopbackServer(handler: Self.handler("a=1", "b=2; HttpOnly; SameSite=Lax"))
        defer { server.stop() }
        let atom = Atom.forTest(over: transport)
        #expect(await atom.outcome(of: server.endpoint("/get")).text == "none")
        _ = await atom.outcome(of: server.endpoint("/set"))
        #expect(await atom.outcome(of: server.endpoint("/get")).text == "a=1; b=2")
    }

    @Test(arguments: TransportUnderTest.all)
    func twoAtomsShareNoCookies(over transport: TransportUnderTest) async throws {
        let server = try LoopbackServer(handler: Self.handler("a=1"))
        defer { server.stop() }
        let first = Atom.forTest(over: transport)
        _ = await first.outcome(of: server.endpoint("/set"))
        #expect(await Atom.forTest(over: transport).outcome(of: server.endpoint("/get")).text == "none")
        #expect(await first.outcome(of: server.endpoint("/get")).text == "a=1")
    }

    @Test(arguments: TransportUnderTest.all)
    func aPathAnExpiryAndASecureFlagAreObeyed(over transport: TransportUnderTest) async throws {
        let cookies = Self.handler(
            "all=1; Path=/", "deep=1; Path=/deep", "gone=1; Path=/; Max-Age=0", "safe=1; Path=/; Secure",
            "past=1; Path=/; Expires=Thu, 01 Jan 1970 00:00:00 GMT", "long=1; Path=/; Max-Age=999999999999999999999")
        let server = try LoopbackServer(handler: cookies)
        defer { server.stop() }
        let atom = Atom.forTest(over: transport)
        _ = await atom.outcome(of: server.endpoint("/set"))
        #expect(await atom.outcome(of: server.endpoint("/get")).text == "all=1; long=1")
        #expect(await atom.outcome(of: server.endpoint("/deep/er")).text == "deep=1; all=1; long=1")
        #expect(await atom.outcome(of: server.endpoint("/deeper")).text == "all=1; long=1")
    }

    @Test(arguments: TransportUnderTest.all)
    func anExpiredCookieTakesTheOlderOneAway(over transport: TransportUnderTest) async throws {
        let server = try LoopbackServer { request in
            switch request.path {
            case "/set": .empty(204, headers: [("Set-Cookie", "a=1; Path=/")])
            case "/clear": .empty(204, headers: [("Set-Cookie", "a=; Path=/; Max-Age=0")])
            default: .text(request["Cookie"] ?? "none")
            }
        }
        defer { server.stop() }
        let atom = Atom.forTest(over: transport)
        var texts: [String?] = []
        for path in ["/set", "/get", "/clear", "/get"] {
            texts.append(await atom.outcome(of: server.endpoint(path)).text)
        }
        #expect(texts == ["", "a=1", "", "none"])
    }

    @Test(arguments: TransportUnderTest.all)
    func aCookieForAnotherDomainIsNotAccepted(over transport: TransportUnderTest) async throws {
        let attack = Self.handler(
            "a=1; Domain=example.com", "b=1; Domain=.com", "c=1; Domain=0.0.1", "d=1; Domain=.0.0.1",
            "ok=1; Domain=127.0.0.1")
        let server = try LoopbackServer(handler: attack)
        defer { server.stop() }
        let atom = Atom.forTest(over: transport)
        _ = await atom.outcome(of: server.endpoint("/set"))
        #expect(await atom.outcome(of: server.endpoint("/get")).text == "ok=1")
    }

    @Test(arguments: TransportUnderTest.all)
    func anOwnCookieHeaderWins(over transport: TransportUnderTest) async throws {
        let server = try LoopbackServer(handler: Self.handler("a=1"))
        defer { server.stop() }
        let atom = Atom.forTest(over: transport)
        _ = await atom.outcome(of: server.endpoint("/set"))
        #expect(await atom.outcome(of: server.endpoint("/get", headers: ["cookie": "mine=1"])).text == "mine=1")
    }

    @Test(arguments: TransportUnderTest.all)
    func aCookieOfARedirectIsSentToWhereItLeads(over transport: TransportUnderTest) async throws {
        let server = try LoopbackServer { request in
            request.path == "/login"
                ? .status(303, headers: [("Location", "/home"), ("Set-Cookie", "s=1; Path=/")])
                : .text(request["Cookie"] ?? "none")
        }
        defer { server.stop() }
        #expect(await Atom.forTest(over: transport).outcome(of: server.endpoint("/login")).text == "s=1")
    }

    @Test(arguments: TransportUnderTest.all)
    func aCookieOfAnErrorIsKeptToo(over transport: TransportUnderTest) async throws {
        let server = try LoopbackServer { request in
            request.path == "/set"
                ? .status(401, headers: [("WWW-Authenticate", "Basic realm=\"x\""), ("Set-Cookie", "s=1")])
                : .text(request["Cookie"] ?? "none")
        }
        defer { server.stop() }
        let atom = Atom.forTest(over: transport)
        _ = await atom.outcome(of: server.endpoint("/set"))
        #expect(await atom.outcome(of: server.endpoint("/get")).text == "s=1")
    }

    @Test(arguments: TransportUnderTest.all)
    func aCookieWhoseNameEndsAsAnothersIsAnotherOne(over transport: TransportUnderTest) async throws {
        let server = try LoopbackServer(handler: Self.handler("sid=1; Path=/api", "apisid=2; Path=/"))
        defer { server.stop() }
        let atom = Atom.forTest(over: transport)
        _ = await atom.outcome(of: server.endpoint("/set"))
        #expect(await atom.outcome(of: server.endpoint("/api")).text == "sid=1; apisid=2")
    }

    @Test(arguments: TransportUnderTest.all)
    func aCommaInATextSetsNoOtherCookie(over transport: TransportUnderTest) async throws {
        let server = try LoopbackServer(
            handler: Self.handler("a=1; Path=/", "pref=chosen by a user, session=EVIL; Path=/", "b=2"))
        defer { server.stop() }
        let atom = Atom.forTest(over: transport)
        _ = await atom.outcome(of: server.endpoint("/set"))
        let sent = await atom.outcome(of: server.endpoint("/get")).text
        #expect(sent == "a=1; pref=chosen by a user, session=EVIL; b=2")
    }

    @Test(arguments: TransportUnderTest.all)
    func fortyCookiesOf4KBCloseNoServer(over transport: TransportUnderTest) async throws {
        let server = try LoopbackServer { request in
            guard request.path.hasPrefix("/set/") else {
                return (request["Cookie"] ?? "").utf8.count < 8_190 ? .text("read") : .status(431)
            }
            let name = request.path.dropFirst("/set/".count)
            return .empty(204, headers: [("Set-Cookie", "c\(name)=\(String(repeating: "v", count: 4_000)); Path=/")])
        }
        defer { server.stop() }
        let atom = Atom.forTest(over: transport)
        for number in 0..<40 { _ = await atom.outcome(of: server.endpoint("/set/\(number)")) }
        #expect(await atom.outcome(of: server.endpoint("/get")).text == "read")
        #expect(server.requests.count == 41)
    }

    // Exit tests of Swift 6.2 can't capture a value.
    #if compiler(>=6.3) && !os(iOS) && !os(tvOS) && !os(watchOS) && !os(visionOS)
        @Test(arguments: TransportUnderTest.all)
        func anEphemeralSessionWritesNothingToDisk(over transport: TransportUnderTest) async {
            await #expect(processExitsWith: .success) { [kind = transport.kind as TransportUnderTest.Kind] in
                let transport = try #require(TransportUnderTest.all.first { $0.kind == kind })
                let home = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
                try FileManager.default.createDirectory(at: home, withIntermediateDirectories: true)
                for name in ["HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME"] {
                    setenv(name, home.path, 1)
                }
                let server = try LoopbackServer { _ in
                    .empty(204, headers: [("Set-Cookie", "a=1; Path=/; Max-Age=1000")])
                }
                let atom = Atom.forTest(over: transport)
                for _ in 0..<3 { _ = await atom.outcome(of: server.endpoint()) }
                // Foundation creates folders when a configuration is created;
                // only the files in them count.
                let files = try FileManager.default.subpathsOfDirectory(atPath: home.path).filter {
                    var isFolder: ObjCBool = false
                    let path = home.appendingPathComponent($0).path
                    return FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) && !isFolder.boolValue
                }
                try? FileManager.default.removeItem(at: home)
                exit(files.isEmpty && server.requests.last?["Cookie"] == "a=1" ? 0 : 1)
            }
        }
    #endif
}
