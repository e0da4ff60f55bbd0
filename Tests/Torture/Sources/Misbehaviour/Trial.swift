import AtomNetworking
import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// One behaviour met by the real client, and what is wrong with the end of it.
struct Trial: Sendable {
    /// What nobody may ever read in an error, a log or an event.
    static let token = "s3cret-access-0f9e8d7c6b5a"
    static let refreshToken = "s3cret-refresh-1a2b3c4d5e6f"
    static let newToken = "s3cret-renewed-6f5e4d3c2b1a"
    static let clientSecret = "s3cret-client-77aa66bb55cc"
    static let queryValue = "s3cret-query-11dd22ee33ff"
    static let password = "s3cret-password-99ff88ee77"
    static let secrets = [token, refreshToken, newToken, clientSecret, queryValue, password]
    /// What a token endpoint should answer.
    static let grant = """
        {"access_token": "\(newToken)", "token_type": "Bearer", "expires_in": 3600, \
        "refresh_token": "\(refreshToken)2"}
        """
    /// The most that a response may be.
    static let limit = 1 << 20
    /// What a deadline may be late by, on a busy machine.
    static let patience = 20.0

    let behaviour: Behaviour
    let number: Int

    struct Result: Sendable {
        let outcome: Outcome
        var faults: [String]
    }

    struct Endpoint: Requestable {
        var base: BaseURL
        var target: String
        var method: HTTPMethod = .get
        var queryItems: [QueryItem]?
        var headerItems: [HeaderItem]?
        var body: RequestBody?
        var requiresAuthorization = false
        var timeout: ServiceTimeout?

        func baseURL() throws(AtomError) -> BaseURL { base }
        func path() throws(AtomError) -> URLPath { try URLPath(target) }
    }

    struct Listener: RequestObserver {
        let heard: Locked<[String]>
        func observe(_ event: RequestEvent) { heard.with { $0.append(String(describing: event)) } }
    }

    func run(over transport: any Transport) async -> Result {
        let hold = Hold()
        guard let server = try? MisbehavingServer(behaviour, hold) else {
            return Result(outcome: .failure(.unexpected), faults: ["no server"])
        }
        defer { server.stop() }
        let heard = Locked<[String]>([])
        let store = InMemoryTokenCredentialStore(
            TokenCredential(accessToken: Self.token, expiresAt: .distantPast, refreshToken: Self.refreshToken))
        guard let atom = try? atom(server, store, heard, transport) else {
            return Result(outcome: .failure(.unexpected), faults: ["no client"])
        }
        let began = DispatchTime.now().uptimeNanoseconds
        async let ended = outcome(of: atom, server, hold)
        var faults: [String] = []
        if behaviour.holds {
            await hold.reached()
            if behaviour.disarmsWhenHeld { server.disarm() }
            let beside = await next(atom, server, "/beside")
            if let beside { faults.append("another request was held up: \(beside)") }
            hold.release()
        }
        let outcome = await ended
        let seconds = Double(DispatchTime.now().uptimeNanoseconds - began) / 1e9
        if seconds > behaviour.timeout.total + Self.patience { faults.append("it took \(Int(seconds)) s") }
        server.disarm()
        let record = server.record.value
        faults += problems(of: outcome, record)
        if behaviour.settles { await server.settled() }
        for round in 0..<2 {
            var problem = await next(atom, server, "/next")
            #if os(Linux)
                // Another transport may not see that a kept connection has been closed, and says so.
                if round == 0, !(transport is CurlTransport), problem?.hasPrefix("lost") == true { problem = nil }
            #endif
            if let problem { faults.append("request \(round + 1) after it: \(problem)") }
        }
        if behaviour.hasSession, behaviour.recovers {
            server.heal()
            if let problem = await signed(atom, server) { faults.append("the session didn't recover: \(problem)") }
        }
        var texts = heard.value
        if let error = outcome.error { texts += Self.texts(of: error) }
        for text in texts {
            for secret in Self.secrets where text.contains(secret) {
                faults.append("a secret is shown: \(text.prefix(300))")
            }
        }
        return Result(outcome: outcome, faults: faults)
    }

    static func texts(of error: AtomError) -> [String] {
        let object = error as NSError
        return [
            String(describing: error), String(reflecting: error), error.localizedDescription, object.description,
            String(describing: object.userInfo), error.situation.description,
            error.request.map { String(describing: $0) } ?? "", "\(error.attempts)",
        ]
    }

    // MARK: The client

    private func atom(
        _ server: MisbehavingServer, _ store: InMemoryTokenCredentialStore, _ heard: Locked<[String]>,
        _ transport: any Transport
    ) throws -> Atom {
        var configuration = ServiceConfiguration(
            dispatchQueue: DispatchQueue(label: "trial"),
            timeout: ServiceTimeout(request: behaviour.timeout.idle, resource: behaviour.timeout.total),
            isLogEnabled: true)
        if behaviour.hasSession {
            configuration.authenticationMethod = .bearer(
                try AuthorizationEndpoint(scheme: .http, host: "127.0.0.1", port: server.port, path: "/token"),
                ClientCredential(id: "app", secret: Self.clientSecret), store as any TokenCredentialStore)
        }
        configuration.maximumResponseSize = Self.limit
        configuration.redirectLimit = behaviour.redirectLimit
        configuration.transport = transport
        configuration.logHandler = { line in heard.with { $0.append(line) } }
        configuration.observers = [Listener(heard: heard)]
        behaviour.configure?(&configuration)
        return Atom(serviceConfiguration: configuration)
    }

    private func endpoint(_ server: MisbehavingServer, _ target: String) throws(AtomError) -> Endpoint {
        Endpoint(
            base: try BaseURL(scheme: behaviour.isSecure ? .https : .http, host: "127.0.0.1", port: server.port),
            target: target)
    }

    private func outcome(of atom: Atom, _ server: MisbehavingServer, _ hold: Hold) async -> Outcome {
        defer { hold.reach() }
        do {
            var endpoint = try endpoint(server, "/x")
            endpoint.method = behaviour.method == "GET" ? .get : .token(behaviour.method)
            endpoint.queryItems = [QueryItem(name: "api_key", value: Self.queryValue)]
            endpoint.requiresAuthorization = behaviour.hasSession
            if !behaviour.hasSession {
                endpoint.headerItems = [HeaderItem(name: "Authorization", value: "Bearer \(Self.token)")]
            }
            let file = FileManager.default.temporaryDirectory.appendingPathComponent("torture-\(UUID().uuidString)")
            defer {
                for suffix in ["", ".upload", ".partial", ".partial.json"] {
                    try? FileManager.default.removeItem(atPath: file.path + suffix)
                }
            }
            endpoint.body = body(file.path + ".upload")
            return try await send(atom.enqueue(endpoint), to: file, atom)
        } catch let error as AtomError {
            return .failure(error)
        } catch {
            return .failure(.unexpected)
        }
    }

    private func body(_ path: String) -> RequestBody? {
        @Sendable func parts(_ count: Int) -> AsyncStream<Data> {
            AsyncStream { continuation in
                for start in stride(from: 0, to: count, by: 16_384) {
                    continuation.yield(Data(repeating: 0x61, count: min(16_384, count - start)))
                }
                continuation.finish()
            }
        }
        switch behaviour.body {
        case .none: return nil
        case .data(let count): return .data(Data(repeating: 0x61, count: count))
        case .file(let count):
            try? Data(repeating: 0x61, count: count).write(to: URL(fileURLWithPath: path))
            return .file(URL(fileURLWithPath: path))
        case .stream(let count): return .stream { parts(count) }
        case .onceOnly(let count): return .stream(isRepeatable: false) { parts(count) }
        }
    }

    private struct Item: Decodable, Sendable { let id: Int }

    private func send(_ service: Service, to file: URL, _ atom: Atom) async throws -> Outcome {
        switch behaviour.call {
        case .data:
            let response = try await service.resume()
            return .success(response.statusCode ?? 0, response.data)
        case .download, .resumedDownload:
            let isResumable = if case .resumedDownload = behaviour.call { true } else { false }
            if isResumable {
                // The first one is cut.
                _ = try? await service.download(to: file, isResumable: true, maximumSize: Int64(Self.limit))
            }
            let response = try await service.download(
                to: file, isResumable: isResumable, maximumSize: Int64(Self.limit))
            guard let data = FileManager.default.contents(atPath: file.path) else {
                return .success(response.statusCode ?? 0, Data("there is no file".utf8))
            }
            return .success(response.statusCode ?? 0, data)
        case .bytes:
            let stream = try await service.bytes()
            var data = Data()
            for try await part in stream {
                data += part
                // Nobody reads a stream without end.
                if data.count > Self.limit { return .success(stream.response.statusCode ?? 0, data.prefix(0)) }
            }
            return .success(stream.response.statusCode ?? 0, data)
        case .lines:
            let stream = try await service.lines(maximumLineLength: 65_536)
            var lines: [String] = []
            for try await line in stream { lines.append(line) }
            return .success(stream.response.statusCode ?? 0, Data(lines.joined(separator: "|").utf8))
        case .events:
            let stream = try await service.serverSentEvents(maximumEventSize: 65_536)
            var events: [String] = []
            for try await event in stream { events.append(event.data) }
            return .success(stream.response.statusCode ?? 0, Data(events.joined(separator: "|").utf8))
        case .jsonLines:
            let stream = try await service.jsonLines(of: Item.self, maximumLineLength: 65_536)
            var count = 0
            for try await _ in stream { count += 1 }
            return .success(stream.response.statusCode ?? 0, Data("\(count)".utf8))
        }
    }

    /// Another request; returns what is wrong with its response.
    private func next(_ atom: Atom, _ server: MisbehavingServer, _ path: String) async -> String? {
        let name = "n\(number)-\(UInt32.random(in: 0...(.max)))"
        do throws(AtomError) {
            var endpoint = try endpoint(server, path)
            if behaviour.isSecure { return nil }
            endpoint.queryItems = [QueryItem(name: "id", value: name)]
            endpoint.timeout = ServiceTimeout(request: 20, resource: 40)
            let response = try await atom.enqueue(endpoint).resume()
            let text = String(decoding: response.data, as: UTF8.self)
            return text == "\(path) id=\(name)" ? nil : "the response of another: \(text.prefix(80).debugDescription)"
        } catch {
            let isLost =
                if case .session(let cause as URLError) = error { cause.code == .networkConnectionLost } else { false }
            return "\(isLost ? "lost, " : "")\(error.delivery): \(error)"
        }
    }

    private func signed(_ atom: Atom, _ server: MisbehavingServer) async -> String? {
        do throws(AtomError) {
            var endpoint = try endpoint(server, "/healed")
            endpoint.requiresAuthorization = true
            let text = String(decoding: try await atom.enqueue(endpoint).resume().data, as: UTF8.self)
            return text == "healed" ? nil : text
        } catch {
            return error.description
        }
    }

    // MARK: The judgement

    private func problems(of outcome: Outcome, _ record: MisbehavingServer.Record) -> [String] {
        var faults: [String] = []
        func fault(_ text: String) { faults.append("\(text), got \(outcome.text)") }
        switch behaviour.expectation {
        case .response(let status, let body):
            if outcome.status != status || outcome.body != body {
                fault("expected \(status) with \(body.count) bytes \(Self.shown(body))")
            }
        case .failure(let delivery):
            if outcome.error == nil { fault("expected a failure") }
            if let delivery, let error = outcome.error, error.delivery != delivery {
                fault("expected the delivery \(delivery)")
            }
        case .failureOr(let bodies):
            if outcome.error == nil, let body = outcome.body, !bodies.contains(body) {
                fault("expected a failure or \(bodies.map(Self.shown))")
            }
        case .anything: break
        case .judged(let judge): if let problem = judge(outcome, record) { fault(problem) }
        }
        if let body = outcome.body, body.count > Self.limit { fault("more than the limit") }
        if case .failure(.unexpected) = outcome { fault("an error without a cause") }
        if let error = outcome.error {
            if error.delivery == .notSent, record.hasRead, !behaviour.hasSession { fault("the server has read a part") }
            if error.delivery == .answered, !record.hasWritten { fault("the server has not answered") }
            if case .requestable = error { fault("the request was refused") }
        }
        var counts: [String: Int] = [:]
        for head in record.heads where !["GET", "HEAD", "PUT", "DELETE", "OPTIONS"].contains(head.method) {
            counts["\(head.method) \(head.path)", default: 0] += 1
        }
        if !behaviour.mayRepeat {
            for (request, count) in counts where count > 1 { fault("\(request) was sent \(count) times") }
        }
        return faults
    }

    private static func shown(_ data: Data) -> String {
        String(decoding: data.prefix(40), as: UTF8.self).debugDescription
    }
}
