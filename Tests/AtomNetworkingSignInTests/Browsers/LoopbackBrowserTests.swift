import AtomNetworking
import AtomNetworkingTesting
import Foundation
import Testing

@testable import AtomNetworkingSignIn

/// The listener and the browser, over real sockets.
@Suite(.limited)
struct LoopbackBrowserTests {
    private static let page = URL(fileURLWithPath: "/page")

    /// A browser that runs, with the port that it listens to.
    private struct Running {
        let port: Int
        let callback: Task<URL, any Error>
        let clock: ManualClock

        func get(_ target: String) -> String {
            "GET \(target) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\nAccept: */*\r\n\r\n"
        }

        func request(_ text: String) async throws -> String {
            let connection = try #require(RawConnection(to: port))
            connection.send(text)
            return await connection.rest()
        }
    }

    /// Starts a browser whose page is shown to the test.
    private func start(_ change: (inout LoopbackBrowser) -> Void = { _ in }) async throws -> Running {
        let (shown, show) = AsyncStream.makeStream(of: URL.self)
        let clock = ManualClock()
        var browser = LoopbackBrowser(open: { url in
            show.yield(url)
            return true
        })
        browser.timeSource = clock
        change(&browser)
        let callback = Task { [browser] in
            defer { show.finish() }
            return try await browser.authorize { redirectURI in
                try #require(URL(string: "https://as.example/authorize?redirect=\(redirectURI)"))
            }
        }
        let page = await shown.first { _ in true }
        let port = page.flatMap { $0.absoluteString.split(separator: ":").last?.split(separator: "/").first }
        guard let port = port.flatMap({ Int($0) }) else {
            _ = try await callback.value
            throw CancellationError()
        }
        return Running(port: port, callback: callback, clock: clock)
    }

    @Test("The callback is returned, the browser gets the page, and then the port is closed")
    func callback() async throws {
        let running = try await start()
        let response = try await running.request(running.get("/callback?code=SECRET&state=STATE"))
        #expect(response.hasPrefix("HTTP/1.1 200 OK\r\n"))
        #expect(response.contains("You can close this window."))
        #expect(!response.contains("SECRET") && !response.contains("STATE"))
        let url = try await running.callback.value
        #expect(url.absoluteString == "http://127.0.0.1:\(running.port)/callback?code=SECRET&state=STATE")
        #expect(RawConnection(to: running.port) == nil)
        #expect(running.clock.nextAlarm == nil)
    }

    @Test("The SDK's client can bring it, over another path")
    func client() async throws {
        let running = try await start { $0.path = "/a/b%20c" }
        let answer = try await Atom().enqueue(
            URLEndpoint("http://127.0.0.1:\(running.port)/a/b%20c?error=access_denied")
        ).resume(expecting: String.self)
        #expect(answer.contains("Nobody was signed in. You can close this window."))
        let url = try await running.callback.value
        #expect(url.absoluteString == "http://127.0.0.1:\(running.port)/a/b%20c?error=access_denied")
    }

    @Test("Other requests, and connections that are silent, don't hold the callback up")
    func others() async throws {
        let running = try await start()
        let silent = try (0..<5).map { _ in try #require(RawConnection(to: running.port)) }
        let half = try #require(RawConnection(to: running.port))
        half.send("GET /callback?code=half HTTP/1.1\r\nHost:")
        #expect(try await running.request(running.get("/favicon.ico")).hasPrefix("HTTP/1.1 404 "))
        #expect(try await running.request(running.get("/callback")).hasPrefix("HTTP/1.1 400 "))
        for method in ["HEAD", "POST"] {
            let head = "\(method) /callback?code=x HTTP/1.1\r\nHost: 127.0.0.1:\(running.port)\r\n"
            let response = try await running.request(head + "Content-Length: 3\r\n\r\na=b")
            #expect(response.hasPrefix("HTTP/1.1 405 "))
        }
        let other = "GET /callback?code=x HTTP/1.1\r\nHost: evil.example:\(running.port)\r\n\r\n"
        #expect(try await running.request(other).hasPrefix("HTTP/1.1 400 "))
        #expect(try await running.request(running.get("/callback?code=x")).hasPrefix("HTTP/1.1 200 "))
        #expect(try await running.callback.value.query == "code=x")
        // What was open is closed with the port.
        for connection in silent + [half] { #expect(await connection.rest() == "") }
    }

    @Test("The answer to a head that is too long arrives, although the rest was never read")
    func longHead() async throws {
        let running = try await start()
        let head = "GET /callback?code=x HTTP/1.1\r\nHost: 127.0.0.1:\(running.port)\r\nCookie: "
        let long = head + String(repeating: "c", count: 20 << 10) + "\r\n\r\n"
        #expect(try await running.request(long).hasPrefix("HTTP/1.1 400 "))
        running.callback.cancel()
        await #expect(throws: CancellationError.self) { try await running.callback.value }
    }

    @Test("A callback may come byte by byte, while others are served")
    func byteByByte() async throws {
        let running = try await start()
        let slow = try #require(RawConnection(to: running.port))
        for (index, byte) in running.get("/callback?code=slow").utf8.enumerated() {
            slow.send(String(decoding: [byte], as: UTF8.self))
            if index.isMultiple(of: 10) { _ = try await running.request(running.get("/favicon.ico")) }
        }
        #expect(await slow.rest().hasPrefix("HTTP/1.1 200 "))
        #expect(try await running.callback.value.query == "code=slow")
    }

    @Test("The first callback counts, and a second one gets no answer")
    func secondCallback() async throws {
        let running = try await start()
        let second = try #require(RawConnection(to: running.port))
        #expect(try await running.request(running.get("/callback?code=first")).hasPrefix("HTTP/1.1 200 "))
        #expect(try await running.callback.value.query == "code=first")
        second.send(running.get("/callback?code=second"))
        #expect(await second.rest() == "")
    }

    @Test("More connections than it keeps don't keep the callback away")
    func manyConnections() async throws {
        let running = try await start()
        let silent = try (0..<100).map { _ in try #require(RawConnection(to: running.port)) }
        #expect(try await running.request(running.get("/callback?code=x")).hasPrefix("HTTP/1.1 200 "))
        _ = try await running.callback.value
        for connection in silent { #expect(await connection.rest() == "") }
    }

    @Test("A callback that doesn't come in time is one that timed out, and the port is closed")
    func timeout() async throws {
        let running = try await start { $0.timeout = .seconds(60) }
        running.clock.advance(by: .seconds(59))
        #expect(try await running.request(running.get("/")).hasPrefix("HTTP/1.1 404 "))
        running.clock.advance(by: .seconds(1))
        await #expect(throws: SignInError.timedOut) { try await running.callback.value }
        #expect(RawConnection(to: running.port) == nil)
        #expect(running.clock.alarmCount == 0)
    }

    @Test("Cancellation ends it at once, and the port is closed")
    func cancellation() async throws {
        let running = try await start()
        running.callback.cancel()
        await #expect(throws: CancellationError.self) { try await running.callback.value }
        #expect(RawConnection(to: running.port) == nil)
        #expect(running.clock.alarmCount == 0)
    }

    @Test("A task that was cancelled before opens no browser")
    func cancelledBefore() async throws {
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            let browser = LoopbackBrowser(open: { _ in
                Issue.record("opened")
                return true
            })
            return try await browser.authorize { _ in Self.page }
        }
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test("A browser that can't make its page closes the port, and throws that error")
    func noPage() async throws {
        let ports = Ports()
        let browser = LoopbackBrowser(open: { _ in true })
        await #expect(throws: SignInError.unsupported("x")) {
            try await browser.authorize { redirectURI in
                await ports.note(redirectURI)
                throw SignInError.unsupported("x")
            }
        }
        let port = try #require(await ports.last)
        #expect(RawConnection(to: port) == nil)
    }

    @Test("Only 127.0.0.1 is listened to")
    func onlyLoopback() async throws {
        let running = try await start()
        #expect(!RawConnection.isOpenOnIPv6(running.port))
        #if os(Linux)
            #expect(RawConnection(to: running.port, address: "127.0.0.2") == nil)
        #endif
        running.callback.cancel()
    }

    @Test("A port that is taken is an error that says so, and one that was used before is none")
    func takenPort() async throws {
        let free = try LoopbackListener(port: 0, path: "/")
        let port = try #require(URL(string: free.redirectURI)?.port)
        free.closePort()
        for _ in 0..<2 {
            let running = try await start { $0.port = port }
            #expect(running.port == port)
            await #expect(throws: SignInError.browserFailed("port \(port) is taken")) {
                try await start { $0.port = port }
            }
            _ = try await running.request(running.get("/callback?code=x"))
            _ = try await running.callback.value
        }
    }

    @Test(
        "A port or a path that can't be is refused",
        arguments: [(-1, "/"), (65_536, "/"), (0, ""), (0, "a"), (0, "/a b"), (0, "/a?b"), (0, "/\r\n")])
    func badOptions(_ port: Int, _ path: String) {
        let error = #expect(throws: SignInError.self) { try LoopbackListener(port: port, path: path) }
        guard case .browserFailed = error else {
            Issue.record("another error")
            return
        }
    }

    @Test("The address is shown if no browser can be opened, and the callback is waited for")
    func shown() async throws {
        let (shown, show) = AsyncStream.makeStream(of: URL.self)
        var browser = LoopbackBrowser(open: { _ in false }, show: { show.yield($0) })
        browser.timeSource = ManualClock()
        let callback = Task { [browser] in
            try await browser.authorize { try #require(URL(string: $0 + "#page")) }
        }
        let page = try #require(await shown.first { _ in true })
        let port = try #require(page.port)
        let connection = try #require(RawConnection(to: port))
        connection.send("GET /callback?code=x HTTP/1.1\r\nHost: localhost:\(port)\r\n\r\n")
        #expect(try await callback.value.query == "code=x")
    }

    @Test("A command that still runs is not waited for, and is cancelled in the end")
    func runsOn() async throws {
        let (ends, end) = AsyncStream.makeStream(of: Bool.self)
        let running = try await start { browser in
            let open = browser.open
            browser.open = { url in
                _ = await open(url)
                let (never, _) = AsyncStream.makeStream(of: Never.self)
                for await _ in never {}
                end.yield(Task.isCancelled)
                return false
            }
            browser.show = { _ in Issue.record("shown") }
        }
        _ = try await running.request(running.get("/callback?code=x"))
        _ = try await running.callback.value
        #expect(await ends.first { _ in true } == true)
    }

    private actor Ports {
        private(set) var last: Int?
        func note(_ redirectURI: String) { last = URL(string: redirectURI)?.port }
    }
}

#if os(macOS) || os(Linux)
    @Suite(.limited)
    struct SystemBrowserTests {
        @Test("A command has opened the page if it succeeds")
        func result() async {
            #expect(await LoopbackBrowser.run(["/usr/bin/env", "true"]))
            #expect(await !LoopbackBrowser.run(["/usr/bin/env", "false"]))
            #expect(await !LoopbackBrowser.run(["/usr/bin/env", "no-such-command-here"]))
            #expect(await !LoopbackBrowser.run(["/no/such/file"]))
        }

        @Test("A command that runs on when nobody waits any more goes on")
        func cancelled() async throws {
            let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
            defer { try? FileManager.default.removeItem(at: folder) }
            let (toCommand, fromCommand) = (folder.path + "/in", folder.path + "/out")
            for path in [toCommand, fromCommand] { #expect(mkfifo(path, 0o600) == 0) }
            let task = Task {
                await LoopbackBrowser.run(
                    ["/bin/sh", "-c", "read word <'\(toCommand)'; echo \"$word\" >'\(fromCommand)'"])
            }
            task.cancel()
            #expect(await task.value)
            let answer = await withCheckedContinuation { continuation in
                // Each opening waits for the command.
                Thread {
                    try? FileHandle(forWritingAtPath: toCommand)?.write(contentsOf: Data("on\n".utf8))
                    continuation.resume(returning: try? FileHandle(forReadingAtPath: fromCommand)?.readToEnd())
                }.start()
            }
            #expect(answer == Data("on\n".utf8))
        }

        @Test("Only pages are opened")
        func onlyPages() throws {
            for text in ["file:///etc/passwd", "javascript:alert(1)", "-a", "mailto:a@b.example"] {
                let url = try #require(URL(string: text))
                #expect(LoopbackBrowser.command(toOpen: url, in: ["DISPLAY": ":0"]) == nil)
            }
        }

        #if os(Linux)
            @Test(
                "On Linux a screen is needed",
                arguments: [
                    ([:], false), (["DISPLAY": ""], false), (["DISPLAY": ":0"], true),
                    (["WAYLAND_DISPLAY": "wayland-0", "DISPLAY": ""], true),
                ])
            func screen(_ environment: [String: String], _ hasOne: Bool) throws {
                let url = try #require(URL(string: "https://as.example/authorize?state=x"))
                let command = LoopbackBrowser.command(toOpen: url, in: environment)
                #expect(command == (hasOne ? ["/usr/bin/env", "xdg-open", url.absoluteString] : nil))
            }
        #endif
    }
#endif
