#if os(Linux)
    import AtomNetworkingTesting
    import Foundation
    import FoundationNetworking
    import Glibc
    import Testing

    @testable import AtomNetworking

    @Suite(.limited) struct CurlProxyTests {
        private func transport(_ proxy: CurlTransport.Proxy) throws -> CurlTransport {
            var configuration = CurlTransport.Configuration()
            configuration.proxy = proxy
            return try CurlTransport(configuration: configuration)
        }

        private func server(
            _ proxy: LoopbackServer, username: String? = nil, password: String? = nil, exceptions: [String] = []
        ) throws -> CurlTransport.Proxy {
            .server(
                try CurlTransport.ProxyServer(
                    "http://127.0.0.1:\(proxy.port)", username: username, password: password, exceptions: exceptions))
        }

        private func request(_ scheme: BaseURLScheme, _ host: String, port: Int? = nil) throws -> TransportRequest {
            try TransportRequest(
                base: BaseURL(scheme: scheme, host: host, port: port), path: URLPath("/x"), queryItems: ["y": "z"])
        }

        @Test("A plain request goes to the proxy with its whole URL")
        func absoluteForm() async throws {
            let proxy = try LoopbackServer { _ in .text("proxied") }
            defer { proxy.stop() }
            let recorder = try await transport(server(proxy)).run(request(.http, "origin.example", port: 8_080))
            #expect(recorder.text == "proxied" && recorder.violations == [])
            #expect(proxy.requests.map(\.target) == ["http://origin.example:8080/x?y=z"])
            #expect(proxy.requests.first?["Host"] == "origin.example:8080")
            #expect(proxy.requests.first?["Proxy-Authorization"] == nil)
        }

        @Test(
            "For TLS the proxy is asked for a connection only, and its refusal is an error", arguments: [407, 403, 502])
        func refusedTunnel(status: Int) async throws {
            let proxy = try LoopbackServer { _ in .text("no", status: status) }
            defer { proxy.stop() }
            let recorder = try await transport(server(proxy)).run(request(.https, "origin.example"))
            #expect(recorder.violations == [])
            #expect(recorder.urlError?.code == .cannotConnectToHost, "\(recorder.events)")
            #expect(recorder.failure?.delivery == .notSent)
            #expect(recorder.urlError?.localizedDescription.contains("\(status)") == true)
            #expect(proxy.requests.map(\.method) == ["CONNECT"])
            #expect(proxy.requests.map(\.target) == ["origin.example:443"])
        }

        @Test(
            "A proxy that closes or answers nonsense has got nothing of the request", arguments: ["", "what?\r\n\r\n"])
        func brokenTunnel(answer: String) async throws {
            let proxy = try LoopbackServer { _ in .raw(answer) }
            defer { proxy.stop() }
            let recorder = try await transport(server(proxy)).run(request(.https, "origin.example"))
            #expect(recorder.violations == [] && recorder.failure?.delivery == .notSent, "\(recorder.events)")
        }

        @Test("Through a tunnel goes a handshake, and no header field")
        func tunnel() async throws {
            let seen = Locked(Data())
            let proxy = try ByteServer { line in
                _ = line.readHead()
                line.write("HTTP/1.1 200 Connection established\r\n\r\n")
                seen.with { $0 = line.read() }
                return .close
            }
            defer { proxy.stop() }
            let server = try CurlTransport.ProxyServer(
                "http://127.0.0.1:\(proxy.port)", username: "user", password: "hush")
            let recorder = try await transport(.server(server)).run(request(.https, "origin.example"))
            #expect(recorder.failure?.delivery == .notSent && recorder.violations == [])
            #expect(seen.value.first == 0x16)
            #expect(seen.value.range(of: Data("Proxy-Authorization".utf8)) == nil)
        }

        @Test("The credential is the proxy's, and not the server's")
        func credential() async throws {
            let proxy = try LoopbackServer { _ in .text("proxied", status: 407) }
            let origin = try LoopbackServer { _ in .text("direct") }
            defer {
                proxy.stop()
                origin.stop()
            }
            let transport = try transport(
                server(proxy, username: "user", password: "hu:sh", exceptions: ["127.0.0.1", "direct.example"]))
            #expect(await transport.run(try request(.http, "origin.example")).status == 407)
            let expected = "Basic " + Data("user:hu:sh".utf8).base64EncodedString()
            #expect(proxy.requests.map { $0["Proxy-Authorization"] } == [expected])
            #expect(await transport.run(try .to(origin)).text == "direct")
            #expect(origin.requests.first?["Proxy-Authorization"] == nil)
            #expect(await transport.run(try request(.https, "origin.example")).failure?.delivery == .notSent)
            #expect(proxy.requests.last?["Proxy-Authorization"] == expected)
            #expect(proxy.requestCount == 2 && origin.requestCount == 1)
        }

        @Test("A proxy that can't be reached is named as the problem", arguments: [BaseURLScheme.http, .https])
        func unreachable(scheme: BaseURLScheme) async throws {
            let port = try RefusingPort()
            defer { withExtendedLifetime(port) {} }
            let proxy = try CurlTransport.ProxyServer("http://127.0.0.1:\(port.number)")
            let recorder = try await transport(.server(proxy)).run(request(scheme, "origin.example"))
            #expect(recorder.urlError?.code == .cannotConnectToHost && recorder.failure?.delivery == .notSent)
            let text = recorder.urlError?.localizedDescription ?? ""
            #expect(text.hasPrefix("The proxy") && text.contains("http://127.0.0.1:\(port.number)"), "\(text)")
        }

        @Test("An error of an exchange over a proxy names it, and an exception's doesn't")
        func named() async throws {
            let proxy = try LoopbackServer { _ in .raw("") }
            let refusing = try RefusingPort()
            defer { withExtendedLifetime(refusing) { proxy.stop() } }
            let transport = try transport(server(proxy, exceptions: ["127.0.0.1"]))
            for scheme in [BaseURLScheme.http, .https] {
                let text = await transport.run(try request(scheme, "origin.example")).urlError?.localizedDescription
                #expect(text?.contains("over the proxy http://127.0.0.1:\(proxy.port)") == true, "\(text ?? "")")
            }
            let direct = await transport.run(try request(.http, "127.0.0.1", port: refusing.number))
            #expect(direct.urlError?.localizedDescription.hasPrefix("The server refused") == true, "\(direct.events)")
        }

        @Test("The environment names the proxy, unless the settings do")
        func environment() async {
            await #expect(processExitsWith: .success) {
                let proxy = try LoopbackServer { _ in .text("proxied") }
                let origin = try LoopbackServer { _ in .text("direct") }
                setenv("http_proxy", "http://user:hush@127.0.0.1:\(proxy.port)", 1)
                setenv("no_proxy", "direct.localhost", 1)
                let request = try TransportRequest.to(origin)
                #expect(try await CurlTransport().run(request).text == "proxied")
                let credential = "Basic " + Data("user:hush".utf8).base64EncodedString()
                #expect(proxy.requests.map { $0["Proxy-Authorization"] } == [credential])
                var configuration = CurlTransport.Configuration()
                configuration.proxy = .none
                #expect(try await CurlTransport(configuration: configuration).run(request).text == "direct")
                configuration.proxy = .server(
                    try CurlTransport.ProxyServer("http://127.0.0.1:9", exceptions: ["127.0.0.1"]))
                #expect(try await CurlTransport(configuration: configuration).run(request).text == "direct")
                setenv("no_proxy", "127.0.0.1", 1)
                #expect(try await CurlTransport().run(request).text == "direct")
                setenv("no_proxy", "a.example:1, 127.0.0.1:\(origin.port)", 1)
                #expect(try await CurlTransport().run(request).text == "direct")
                setenv("no_proxy", "127.0.0.1:1", 1)
                #expect(try await CurlTransport().run(request).text == "proxied", "it is for another port")
                #expect(origin.requests.allSatisfy { $0["Proxy-Authorization"] == nil })
                proxy.stop()
                origin.stop()
            }
        }

        @Test("A proxy of the environment that can't be used ends exchanges before anything is sent")
        func unusable() async {
            await #expect(processExitsWith: .success) {
                let origin = try LoopbackServer { _ in .text("direct") }
                for value in ["ftp://user:hush@127.0.0.1:9", "http://user:hush@127.0.0.1:70000"] {
                    setenv("http_proxy", value, 1)
                    let recorder = await (try CurlTransport()).run(try .to(origin))
                    #expect(recorder.failure?.delivery == .notSent && origin.requestCount == 0)
                    let text = recorder.urlError?.localizedDescription ?? ""
                    #expect(text.contains("http_proxy") && !"\(text) \(recorder.events)".contains("hush"), "\(text)")
                    #expect(recorder.urlError?.code == .badURL, "no other attempt would cure it")
                }
                origin.stop()
            }
        }

        @Test(
            "A value that isn't the URL of a proxy is refused, without a piece of it",
            arguments: [
                "http://user:s3cret/x@proxy:3128", "http://user:s3cret#x@proxy:3128", "user:s3cret?x@proxy:3128",
                "http://user:s3cret", "http://user@s3cret:", "http://proxy:3128s3cret",
                "http://[::1", "http://[::1]s3cret", "http://[::1]:s3cret", "http://:3128", "ftp://s3cret@proxy",
            ])
        func notAProxy(value: String) {
            do throws(CurlLibrary.Unavailable) {
                let proxy = try CurlTransport.ProxyServer.named(by: ["http_proxy": value], for: .http)
                Issue.record("\(String(describing: proxy))")
            } catch {
                #expect(error.reason == "the value of http_proxy is not the URL of a proxy")
            }
        }

        @Test(
            "A port that there can't be is named as the fault",
            arguments: ["http://proxy:70000", "proxy:0", "socks5://[::1]:65536", "http://u:p@a:99999999999999999999/x"])
        func noPort(value: String) {
            let error = #expect(throws: CurlLibrary.Unavailable.self) {
                try CurlTransport.ProxyServer.named(by: ["all_proxy": value], for: .https)
            }
            #expect(error?.reason == "the value of all_proxy has a port that is not in 1…65535")
        }

        @Test("The value may have a user name, a password, a port and a path")
        func parts() throws {
            func named(_ value: String) throws -> [String?] {
                let proxy = try CurlTransport.ProxyServer.named(by: ["http_proxy": value], for: .http)
                return [proxy?.url, proxy?.username, proxy?.password]
            }
            #expect(try named("proxy") == ["http://proxy", nil, nil])
            #expect(try named("http://proxy:3128/") == ["http://proxy:3128", nil, nil])
            #expect(try named("socks5h://user@[::1]:1080/x") == ["socks5h://[::1]:1080", "user", nil])
            #expect(try named("https://u%40:p@:%2F@proxy/") == ["https://proxy", "u@", "p@:/"])
        }

        @Test("A user name and a password arrive as they are, with each libcurl")
        func percentSigns() async throws {
            let proxy = try LoopbackServer { _ in .text("proxied") }
            defer { proxy.stop() }
            for (username, password) in [("u%41", "p%25x%"), ("%zz%00", "%")] {
                let transport = try transport(server(proxy, username: username, password: password))
                #expect(await transport.run(try request(.http, "origin.example")).text == "proxied")
                let expected = "Basic " + Data("\(username):\(password)".utf8).base64EncodedString()
                #expect(proxy.requests.last?["Proxy-Authorization"] == expected)
            }
        }

        @Test("A password of the environment's proxy is in no error")
        func noPassword() async {
            await #expect(processExitsWith: .success) {
                let port = try RefusingPort()
                let places = ["127.0.0.1:\(port.number)", "no-such-host.invalid:1"]
                for (scheme, place) in ["http", "https", "socks5h"].flatMap({ scheme in places.map { (scheme, $0) } }) {
                    for name in ["http_proxy", "https_proxy"] {
                        setenv(name, "\(scheme)://user:hush@\(place)", 1)
                    }
                    let transport = try CurlTransport()
                    for origin in [BaseURLScheme.http, .https] {
                        let request = try TransportRequest(
                            base: BaseURL(scheme: origin, host: "origin.example"), path: .empty)
                        let recorder = await transport.run(request)
                        let failure = try #require(recorder.failure)
                        var text = "\(recorder.events) \((failure.error as NSError).userInfo)"
                        dump(failure, to: &text)
                        #expect(failure.delivery == .notSent && !text.contains("hush"), "\(text)")
                        #expect((failure.error as? URLError)?.localizedDescription.contains(place) == true, "\(text)")
                    }
                }
                withExtendedLifetime(port) {}
            }
        }

        @Test("Over a kept connection to a proxy each request names its own host")
        func hosts() async throws {
            let proxy = try LoopbackServer { _ in .text("proxied") }
            defer { proxy.stop() }
            let transport = try transport(server(proxy))
            for host in ["one.example", "two.example", "one.example"] {
                _ = await transport.run(try request(.http, host, port: 8_080))
            }
            _ = await transport.run(try request(.http, "one.example"))
            let expected = ["one.example:8080", "two.example:8080", "one.example:8080", "one.example"]
            #expect(proxy.requests.map { $0["Host"] } == expected)
            #expect(proxy.connectionCount == 1)
        }

        @Test("A plain request to this machine doesn't go to a proxy on another one")
        func loopbackOverServer() async throws {
            let origin = try LoopbackServer { _ in .text("direct") }
            defer { origin.stop() }
            // An address for documentation: nobody answers there.
            let remote = try CurlTransport.ProxyServer("http://192.0.2.1:3128", username: "user", password: "hush")
            #expect(await (try transport(.server(remote))).run(try .to(origin)).text == "direct")
            let proxy = try LoopbackServer { _ in .text("proxied") }
            defer { proxy.stop() }
            #expect(await (try transport(server(proxy))).run(try .to(origin)).text == "proxied")
        }

        @Test("What a request's Proxy field would set in a web server is not read")
        func capitals() async {
            await #expect(processExitsWith: .success) {
                let origin = try LoopbackServer { _ in .text("direct") }
                unsetenv("http_proxy")
                unsetenv("all_proxy")
                unsetenv("ALL_PROXY")
                setenv("HTTP_PROXY", "http://127.0.0.1:9", 1)
                #expect(try await CurlTransport().run(.to(origin)).text == "direct")
                origin.stop()
            }
        }

        @Test("A request to this machine doesn't go to the environment's proxy on another one")
        func loopback() async {
            await #expect(processExitsWith: .success) {
                let origin = try LoopbackServer { _ in .text("direct") }
                // An address for documentation: nobody answers there.
                for name in ["http_proxy", "all_proxy", "ALL_PROXY"] {
                    for other in ["http_proxy", "all_proxy", "ALL_PROXY", "no_proxy", "NO_PROXY"] { unsetenv(other) }
                    setenv(name, "http://user:hush@192.0.2.1:3128", 1)
                    let transport = try CurlTransport()
                    for host in ["127.0.0.1", "localhost"] {
                        let base = try BaseURL(scheme: .http, host: host, port: origin.port)
                        let recorder = await transport.run(try TransportRequest(base: base, path: .empty))
                        #expect(recorder.text == "direct", "\(name), \(host): \(recorder.events)")
                    }
                }
                #expect(origin.requests.allSatisfy { $0["Proxy-Authorization"] == nil })
                origin.stop()
            }
        }
    }
#endif
