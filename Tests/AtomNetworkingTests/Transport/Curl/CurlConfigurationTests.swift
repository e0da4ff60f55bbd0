#if os(Linux)
    import AtomNetworkingTesting
    import Foundation
    import Testing

    @testable import AtomNetworking

    @Suite(.limited) struct CurlConfigurationTests {
        /// The subject of the refusal, or `nil`.
        private func subject<T>(of body: () throws(AtomError) -> T) -> String? {
            guard case .unsupportedConfiguration(let problem) = refusal(of: body) else { return nil }
            return problem.subject
        }

        // MARK: - Connections

        /// Whether each connection to a port is asked for signs of life.
        private static func keepalives(to port: Int) -> [Bool] {
            (0..<CInt(4_096)).compactMap { descriptor in
                var address = sockaddr_in6()
                var (length, isKeptAlive) = (socklen_t(MemoryLayout<sockaddr_in6>.size), CInt(0))
                let result = withUnsafeMutablePointer(to: &address) {
                    $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getpeername(descriptor, $0, &length) }
                }
                // The port is at the same place for both kinds of addresses.
                guard result == 0, Int(UInt16(bigEndian: address.sin6_port)) == port else { return nil }
                length = socklen_t(MemoryLayout<CInt>.size)
                guard getsockopt(descriptor, SOL_SOCKET, SO_KEEPALIVE, &isKeptAlive, &length) == 0 else { return nil }
                return isKeptAlive != 0
            }
        }

        @Test(
            "A connection that may be waited for after a deadline is asked for signs of life", arguments: [true, false])
        func keepalive(isFresh: Bool) async throws {
            let (gate, hasArrived) = (LoopbackServer.Gate(), Signal())
            let server = try LoopbackServer { _ in
                hasArrived.raise()
                return .text("hello").after(gate)
            }
            defer { server.stop() }
            let exchange = try CurlTransport().begin(.to(server, needsFreshConnection: isFresh))
            await hasArrived.wait()
            #expect(Self.keepalives(to: server.port) == [isFresh])
            gate.open()
            _ = await exchange.end()
        }

        // MARK: - Certificates

        @Test("Certificates are PEM blocks, with any text around them")
        func certificates() throws {
            let one = TestPEM.certificate
            for text in [one, one + one, "# company\n\(one)# end", one.replacingOccurrences(of: "\n", with: "\r\n")] {
                #expect(try CurlTransport.Certificates(pem: text).bytes == Data(text.utf8))
            }
            // A key beside them is not a certificate, and does no harm.
            #expect(throws: Never.self) { try CurlTransport.Certificates(pem: TestPEM.key + one) }
        }

        @Test(
            "Text without a readable certificate is refused",
            arguments: [
                "", "hush", TestPEM.key, TestPEM.block("CERTIFICATE", ""), TestPEM.block("CERTIFICATE", "hush!"),
                TestPEM.block("CERTIFICATE", "aHVzaA=="), TestPEM.block("CERTIFICATE", "hush: MAA="),
                "-----BEGIN CERTIFICATE-----\nMAA=\n",
                TestPEM.certificate + TestPEM.block("CERTIFICATE", "hush!"),
                // OpenSSL reads none of these.
                TestPEM.certificate.replacingOccurrences(of: "\n", with: " "),
                TestPEM.certificate.split(separator: "\n").map { "    \($0)" }.joined(separator: "\n"),
                "\u{FEFF}\(TestPEM.certificate)", "x-----BEGIN CERTIFICATE-----\nMAA=\n-----END CERTIFICATE-----\n",
                "-----BEGIN CERTIFICATE-----\nMAA=\n\(TestPEM.certificate)",
            ])
        func invalidCertificates(text: String) {
            #expect(subject { () throws(AtomError) in try CurlTransport.Certificates(pem: text) } == "certificates")
            let error = refusal { () throws(AtomError) in try CurlTransport.Certificates(pem: text) }
            #expect(error.map { "\($0)" }?.contains("hush") == false)
        }

        @Test(
            "A private key is any PEM block of one",
            arguments: ["PRIVATE KEY", "RSA PRIVATE KEY", "ENCRYPTED PRIVATE KEY"])
        func privateKey(label: String) throws {
            let chain = try CurlTransport.Certificates(pem: TestPEM.certificate)
            #expect(throws: Never.self) {
                try CurlTransport.ClientCertificate(chain: chain, privateKey: TestPEM.block(label, "MAA="))
            }
            let encrypted = TestPEM.block(label, "Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00\n\naHVzaA==")
            #expect(throws: Never.self) { try CurlTransport.ClientCertificate(chain: chain, privateKey: encrypted) }
            for text in ["", TestPEM.certificate, TestPEM.block(label, "hush!"), TestPEM.block("PUBLIC KEY", "MAA=")] {
                let error = refusal { () throws(AtomError) in
                    try CurlTransport.ClientCertificate(chain: chain, privateKey: text, passphrase: "hush")
                }
                #expect(error.map { "\($0)" }?.contains("hush") == false)
            }
        }

        // MARK: - Pins

        @Test("A pin is the base64 of 32 bytes, which may begin with slashes", arguments: [0, 0xFC, 0xFF] as [UInt8])
        func pins(_ first: UInt8) throws {
            let base64 = Data([first] + (1..<32).map { $0 | first }).base64EncodedString()
            for text in [base64, "sha256/" + base64, "sha256//" + base64] {
                #expect(try CurlTransport.PublicKeyPin(sha256: text).base64 == base64)
            }
            let wrong = [
                "", "x", "sha256/", "sha1/" + base64, "sha256///" + base64, base64 + ";" + base64,
                String(base64.dropLast()),
                Data(0..<31).base64EncodedString(), Data(0..<33).base64EncodedString(), base64 + "\n;x",
            ]
            for text in wrong {
                #expect(
                    subject { () throws(AtomError) in try CurlTransport.PublicKeyPin(sha256: text) }
                        == "public key pin", "\(text)")
            }
        }

        // MARK: - Proxies

        @Test(
            "A proxy is a scheme, a host and perhaps a port",
            arguments: [
                ("http://gateway.example:3128", "http://gateway.example:3128"), ("HTTPS://Gateway.example/", nil),
                ("socks5h://127.0.0.1:1080", "socks5h://127.0.0.1:1080"), ("http://[::1]:3128", "http://[::1]:3128"),
                ("socks4a://gateway.example:1", nil), ("http://my_gateway.:3128", "http://my_gateway.:3128"),
            ])
        func proxy(text: String, url: String?) throws {
            let proxy = try CurlTransport.ProxyServer(text)
            if let url { #expect(proxy.url == url) }
            #expect(proxy.url.hasPrefix(text.lowercased().split(separator: ":")[0] + "://"))
        }

        @Test(
            "Anything else is refused, without its secrets",
            arguments: [
                "", "gateway.example", "gateway.example:3128", "ftp://gateway.example", "http://", "http:///x",
                "http://user:hush@gateway.example", "http://hush@gateway.example", "http://gateway.example/hush",
                "http://gateway.example?hush", "http://gateway.example#hush", "http://gateway.example:99999",
                "http://gateway.example:0",
                "http://gateway..example", "http://127.0.0.1.:3128",
                "http://gate way.example", "http://gateway.example\r\nX: hush", "file:///etc/hush",
            ])
        func invalidProxy(text: String) throws {
            let error = refusal { () throws(AtomError) in
                try CurlTransport.ProxyServer(text, username: "user", password: "hush")
            }
            guard case .unsupportedConfiguration? = error else { throw Unexpected("\(error as Any)") }
            #expect(error.map { "\($0)" }?.contains("hush") != true)
        }

        @Test(
            "Credentials that a proxy would get cut are refused without being shown",
            arguments: [(nil, "hush"), ("hush:er", "x"), ("user", "hu\0sh"), ("us\ner", nil)] as [(String?, String?)])
        func invalidProxyCredentials(username: String?, password: String?) {
            let make = { () throws(AtomError) in
                try CurlTransport.ProxyServer("http://gateway.example", username: username, password: password)
            }
            #expect(subject(of: make) == "proxy")
            #expect(refusal(of: make).map { "\($0)" }?.contains("hush") == false)
        }

        @Test("SOCKS has names with colons")
        func userOfSOCKS() {
            #expect(throws: Never.self) { try CurlTransport.ProxyServer("socks5://gateway.example", username: "a:b") }
        }

        @Test("Exceptions are as libcurl compares them")
        func comparedExceptions() throws {
            func exceptions(_ texts: String...) throws -> [String] {
                try CurlTransport.ProxyServer("http://gateway.example", exceptions: texts).exceptions
            }
            #expect(
                try exceptions("[::1]", "::2", "a.example", ".b.example") == ["::1", "::2", "a.example", ".b.example"])
            #expect(try exceptions("a.example", "*") == ["*"])
            #expect(try exceptions("10.0.0.0/8") == ["10.0.0.0/8"])
        }

        @Test(
            "An exception is one name",
            arguments: ["", "a,b", "a b", "a\tb", "a\n", "a.example:80", "*.a.example", "[::1", "[::1]:80", "[]"])
        func exceptions(text: String) {
            #expect(
                subject { () throws(AtomError) in
                    try CurlTransport.ProxyServer("http://gateway.example", exceptions: ["ok.example", text])
                } == "proxy")
        }

        @Test(
            "Loopback hosts are this machine",
            arguments: ["localhost", "LOCALHOST", "127.0.0.1", "127.255.255.255", "[::1]"])
        func loopback(host: String) throws {
            #expect(try CurlTransport.ProxyServer("http://\(host):1").isLoopback)
            #expect(try CurlTransport.ProxyServer.named(by: ["http_proxy": host], for: .http)?.isLoopback == true)
        }

        @Test(
            "A host that only resembles a loopback host isn't one",
            arguments: [
                "localhost.example", "notlocalhost", "128.0.0.1", "127.0.0.1.example", "[::2]", "0.0.0.0", "a_proxy",
                "user:localhost@gateway", "localhost@gateway/localhost",
            ])
        func notLoopback(host: String) throws {
            for value in [host, "http://\(host)", "socks5://\(host):1"] {
                #expect(try CurlTransport.ProxyServer.named(by: ["http_proxy": value], for: .http)?.isLoopback == false)
            }
        }

        @Test("The environment's proxy is found as libcurl finds it")
        func environment() throws {
            func named(_ environment: [String: String], _ scheme: BaseURLScheme = .http) throws -> String? {
                try CurlTransport.ProxyServer.named(by: environment, for: scheme)?.url
            }
            #expect(try named([:]) == nil && named([:], .https) == nil)
            #expect(try named(["http_proxy": ""]) == nil)
            #expect(try named(["http_proxy": "a"]) == "http://a" && named(["http_proxy": "a"], .https) == nil)
            #expect(try named(["HTTP_PROXY": "a"]) == nil, "a request's Proxy field may have set it")
            #expect(try named(["https_proxy": "a"]) == nil && named(["https_proxy": "a"], .https) == "http://a")
            #expect(try named(["HTTPS_PROXY": "a"], .https) == "http://a")
            for scheme in [BaseURLScheme.http, .https] {
                #expect(try named(["all_proxy": "a"], scheme) == "http://a")
                #expect(try named(["ALL_PROXY": "a"], scheme) == "http://a")
                #expect(try named(["all_proxy": "a", "ALL_PROXY": "b"], scheme) == "http://a")
            }
            #expect(try named(["http_proxy": "a", "all_proxy": "b"]) == "http://a")
            #expect(try named(["http_proxy": "", "all_proxy": "b"]) == "http://b")
        }

        @Test("Its value is taken apart: the URL that libcurl gets has no user and no password")
        func environmentValue() throws {
            func proxy(_ value: String, _ more: [String: String] = [:]) throws -> CurlTransport.ProxyServer {
                try #require(
                    try CurlTransport.ProxyServer.named(
                        by: ["https_proxy": value].merging(more) { first, _ in first }, for: .https))
            }
            let full = try proxy("HTTPS://us%40er:hu%3Ash:x@gate_way.example:3128/path?q#f")
            #expect(full.url == "https://gate_way.example:3128" && full.isSecure && !full.isLoopback)
            #expect(full.username == "us@er" && full.password == "hu:sh:x" && full.exceptions == [])
            let bare = try proxy("user@[::1]:3128", ["no_proxy": "", "NO_PROXY": "a.example, b.example"])
            #expect(bare.url == "http://[::1]:3128" && bare.username == "user" && bare.password == nil)
            #expect(bare.isLoopback && !bare.isSecure)
            #expect(bare.exceptions == ["a.example", "b.example"], "an empty no_proxy doesn't hide the other one")
            #expect(try proxy("p%zz@b:c@a").username == "p%zz@b")
            #expect(try proxy("a", ["no_proxy": "b", "NO_PROXY": "c"]).exceptions == ["b"])
        }

        @Test(
            "An exception with a port holds for that port, and libcurl gets its name",
            arguments: [
                ("a.example:80,.b.example:81 c.example", 80, ["a.example", "c.example"]),
                ("[::1]:80, [::2]:81, ::3, [::4]", 80, ["::1", "::3", "::4"]), ("10.0.0.0/8:443", 443, ["10.0.0.0/8"]),
                ("*:80", 80, ["*"]), ("*:80", 443, []), ("a.example:,b.example:x,,", 80, []),
            ])
        func exceptionsWithPorts(text: String, port: Int, names: [String]) throws {
            let environment = ["https_proxy": "a", "no_proxy": text]
            let proxy = try CurlTransport.ProxyServer.named(by: environment, for: .https)
            #expect(proxy?.reaching("a.example", port: port).exceptions == names)
        }

        @Test("For a host with a dot at its end the exceptions have one, too")
        func exceptionsOfACompleteName() throws {
            let environment = ["http_proxy": "a", "no_proxy": ".cluster.local,b.example:80,c.example.,*"]
            let proxy = try CurlTransport.ProxyServer.named(by: environment, for: .http)
            #expect(
                proxy?.reaching("orders.cluster.local.", port: 80).exceptions
                    == [".cluster.local", "b.example", "c.example.", "*", ".cluster.local.", "b.example."])
        }

        @Test(
            "A value that is no proxy is refused without being shown",
            arguments: [
                "http://", "ftp://hush@a", "hush@", "http://user:hush@/x", "hu sh", "a\r\nhush", "://hush",
                "http://user:hu%00sh@a",
            ])
        func invalidEnvironment(value: String) throws {
            do throws(CurlLibrary.Unavailable) {
                _ = try CurlTransport.ProxyServer.named(by: ["https_proxy": value], for: .https)
                Issue.record("it was accepted")
            } catch {
                #expect(error.reason == "the value of https_proxy is not the URL of a proxy")
            }
        }

        // MARK: - Secrets

        @Test("No secret is in any description of the settings")
        func secrets() throws {
            var configuration = CurlTransport.Configuration()
            configuration.clientCertificate = try CurlTransport.ClientCertificate(
                chain: CurlTransport.Certificates(pem: TestPEM.certificate),
                privateKey: TestPEM.block("PRIVATE KEY", "MHush+hush=="), passphrase: "pass-hush")
            let proxy = try CurlTransport.ProxyServer(
                "http://gateway.example", username: "user-hush", password: "word-hush")
            configuration.proxy = .server(proxy)
            configuration.trust = .only(try CurlTransport.Certificates(pem: TestPEM.certificate))
            let transport = try CurlTransport(configuration: configuration)
            var service = ServiceConfiguration()
            service.transport = transport
            let values: [Any] = [
                configuration, proxy, transport, service, Atom(serviceConfiguration: service),
                try #require(configuration.clientCertificate), configuration.trust,
            ]
            for value in values {
                var dumped = ""
                dump(value, to: &dumped)
                for text in ["\(value)", String(reflecting: value), dumped] {
                    #expect(!text.contains("hush") && !text.contains("Hush"), "\(type(of: value))")
                    #expect(!text.contains("MIIBczCC"), "\(type(of: value))")
                }
            }
            #expect("\(proxy)" == "http://gateway.example:80" || "\(proxy)" == "http://gateway.example")
        }

        // MARK: - Without libcurl

        @Test("Without libcurl URLSession is used, and the log says why", arguments: [true, false])
        func fallback(isLogged: Bool) {
            let lines = Locked<[String]>([])
            var configuration = ServiceConfiguration(isLogEnabled: isLogged)
            configuration.logHandler = { line in lines.with { $0.append(line) } }
            let transport = configuration.makeTransport { () throws(AtomError) in
                throw AtomError.requestable(
                    .unsupportedConfiguration(.init(subject: "CurlTransport", reason: "libcurl.so.4 was not found")))
            }
            #expect(transport is URLSessionTransport)
            #expect(lines.value.count == (isLogged ? 1 : 0))
            if isLogged {
                #expect(lines.value.first?.contains("URLSession") == true)
                #expect(lines.value.first?.contains("libcurl.so.4 was not found") == true)
            }
        }

        @Test("With libcurl nothing is logged, and the default is CurlTransport")
        func preferred() throws {
            let lines = Locked<[String]>([])
            var configuration = ServiceConfiguration(isLogEnabled: true)
            configuration.logHandler = { line in lines.with { $0.append(line) } }
            #expect(configuration.makeDefaultTransport() is CurlTransport)
            #expect(Atom(configuration).manager.transport is CurlTransport)
            #expect(lines.value.isEmpty)
            #expect(CurlTransport.libraryVersion?.isEmpty == false)
        }

        @Test(
            "The number of connections is at least one",
            arguments: [(-1, 1), (0, 1), (1, 1), (6, 6), (500, 500), (.max, 1 << 20)])
        func connections(wanted: Int, used: Int) async throws {
            let server = try LoopbackServer { _ in .text("here") }
            defer { server.stop() }
            let transport = try CurlTransport(proxy: .none, connectionsPerOrigin: wanted)
            #expect(transport.exchangesPerOrigin == used)
            #expect(await transport.run(try .to(server)).text == "here")
        }
    }
#endif
