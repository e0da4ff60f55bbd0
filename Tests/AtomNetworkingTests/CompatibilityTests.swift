import AtomNetworking
import AtomNetworkingTesting
import Foundation
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

// Written as an app that used Atom 4.6 would be, with the public API only.

private struct Seat: Model, Equatable {
    let row: Int
    let letter: String
}

private enum Bare: Requestable {
    case anything

    func baseURL() throws(AtomError) -> BaseURL {
        try BaseURL(host: "api.example.com")
    }
}

private enum SeatmapEndpoint: Requestable {
    case list(flight: String)
    case book(Seat)
    case cancel(id: Int)
    case change(Data)
    case replace(Data)
    case broken

    var headerItems: [HeaderItem]? {
        ["X-Client": "app", "Accept-Language": "en"]
    }

    var method: HTTPMethod {
        switch self {
        case .list, .broken: .get
        case .book(let seat): .post((try? JSONEncoder().encode(seat)) ?? Data())
        case .cancel: .delete
        case .change(let data): .patch(data)
        case .replace(let data): .put(data)
        }
    }

    var queryItems: [QueryItem]? {
        ["cabin": "first class", "sort": "row"]
    }

    var requiresAuthorization: Bool {
        if case .list = self { false } else { true }
    }

    func baseURL() throws(AtomError) -> BaseURL {
        if case .broken = self { throw .requestable(.invalidBaseURL) }
        return try BaseURL(scheme: .https, host: "api.example.com")
    }

    func path() throws(AtomError) -> URLPath {
        switch self {
        case .list(let flight): try URLPath("/v1/flights/\(flight)/seats")
        case .book, .change, .replace, .broken: try URLPath("/v1/bookings")
        case .cancel(let id): try URLPath("/v1/bookings/\(id)")
        }
    }
}

// Members that an app has for its own use, with names that Atom's protocol doesn't have, or doesn't have as a property.

private struct ChangeEndpoint: Requestable {
    private let timeout: Double
    private let path: String
    private var body: Data { Data("{\"wait\":\(Int(timeout))}".utf8) }

    init(timeout: Double, path: String) {
        self.timeout = timeout
        self.path = path
    }

    var method: HTTPMethod { .put(body) }
    func baseURL() throws(AtomError) -> BaseURL { try BaseURL(host: "api.example.com") }
    var queryItems: [QueryItem]? { ["file": path] }
}

// swift-format-ignore: AllPublicDeclarationsHaveDocumentation
public struct PublicEndpoint: Requestable {
    let timeout: Double
    let body: Data
    let path: String
    let retryPolicy: Int

    public func baseURL() throws(AtomError) -> BaseURL { try BaseURL(host: "api.example.com") }
    public var method: HTTPMethod { .post(body) }
    public var queryItems: [QueryItem]? { ["file": path, "wait": "\(timeout)", "retries": "\(retryPolicy)"] }
}

// An app's own code around Atom's types.

private protocol Resuming {
    func resume<T: Model>(expecting: T.Type) async throws(AtomError) -> T
    func resume() async throws(AtomError) -> AtomResponse
}

extension Service: Resuming {}

private protocol AppService: Sendable {
    func resume<T: Model>(expecting type: T.Type) async throws(AtomError) -> T
    func resume() async throws(AtomError) -> AtomResponse
    func resume<T: Model>(expecting type: T.Type, completion: @Sendable @escaping (Result<T, AtomError>) -> Void)
    func resume(_ completion: @Sendable @escaping (Result<AtomResponse, AtomError>) -> Void)
}

extension Service: AppService {}

private struct AppClient {
    let atom: Atom

    func load(_ endpoint: SeatmapEndpoint?, completion: @Sendable @escaping (Result<[Seat], AtomError>) -> Void) {
        guard let endpoint else {
            return atom.enqueue(Bare.anything).resume(expecting: [Seat].self, completion: completion)
        }
        atom.enqueue(endpoint).resume(expecting: [Seat].self) { result in completion(result) }
    }

    func send(_ endpoint: SeatmapEndpoint?, completion: @Sendable @escaping (Result<AtomResponse, AtomError>) -> Void) {
        guard let endpoint else { return atom.enqueue(Bare.anything).resume { completion($0) } }
        atom.enqueue(endpoint).resume(completion)
    }
}

@MainActor private protocol MainActorResuming {
    func resume<T: Decodable & Sendable>(expecting type: T.Type) async throws(AtomError) -> T
}

extension Service: MainActorResuming {}

// The order of 1.0.0.

private protocol Reporting {
    func resume<T: Decodable & Sendable>(
        expecting type: T.Type, progress: @escaping @Sendable (TransferProgress) -> Void
    ) async throws(AtomError) -> T
    func download(
        to fileURL: URL, isResumable: Bool, identity: String?, maximumSize: Int64?,
        progress: (@Sendable (TransferProgress) -> Void)?
    ) async throws(AtomError) -> AtomResponse
}

extension Service: Reporting {}

private struct AppCredentials: BasicCredentialConvertible, ClientCredentialConvertible {
    var basicCredential: BasicCredential { BasicCredential(password: "p", username: "u") }
    var clientCredential: ClientCredential { ClientCredential(id: "app") }
}

private func isSendable<T: Sendable>(_: T) -> Bool { true }

private func contains<Item: RequestableItem>(_ items: [Item], _ item: Item) -> Bool {
    items.contains(item)
}

private final class AppTokens: TokenCredentialWritable, @unchecked Sendable {
    // The tests pass it to no code that uses it.
    var tokenCredential = TokenCredential(accessToken: "", expiresAt: .distantPast, refreshToken: "")
}

private final class AppStore: TokenCredentialStore {
    func load() async throws -> TokenCredential? { nil }
    func save(_ credential: TokenCredential?) async throws {}
}

private struct AppProvider: TokenCredentialProvider {
    func credential(replacing rejected: TokenCredential?) async throws -> TokenCredential { throw CancellationError() }
}

private actor CredentialHolder: BasicCredentialConvertible {
    nonisolated var basicCredential: BasicCredential {
        BasicCredential(password: "open sesame", username: "Aladdin")
    }
}

@Suite("An app that was written for Atom compiles and behaves", .limited)
struct CompatibilityTests {
    private static func atom(
        _ transport: ScriptedTransport, _ configuration: ServiceConfiguration = ServiceConfiguration()
    ) -> Atom {
        var configuration = configuration
        configuration.transport = transport
        configuration.timeSource = transport.clock
        return Atom(serviceConfiguration: configuration)
    }

    private static func answering(_ body: String, status: Int = 200) -> ScriptedTransport {
        ScriptedTransport.held { $0.answer(body, status: status, headers: [("Content-Type", "application/json")]) }
    }

    private static let seats = #"[{"row":12,"letter":"A"},{"row":12,"letter":"B"}]"#

    @Test("An endpoint with nothing but a base URL is a GET of the root")
    func bareEndpoint() async throws {
        let transport = Self.answering(#"{"row":1,"letter":"F"}"#)
        let seat = try await Self.atom(transport).enqueue(Bare.anything).resume(expecting: Seat.self)
        #expect(seat == Seat(row: 1, letter: "F"))
        let request = try #require(transport.requests.first)
        #expect(request.method == "GET")
        #expect(request.target.absoluteString == "https://api.example.com/")
        #expect(request.headerFields.isEmpty)
        #expect(request.body == nil)

        let endpoint = Bare.anything
        #expect(endpoint.headerItems == nil)
        #expect(endpoint.queryItems == nil)
        #expect(endpoint.method == .get)
        #expect(endpoint.requiresAuthorization)
        #expect(endpoint.body == nil)
        #expect(endpoint.timeout == nil)
    }

    @Test("Header and query items come from dictionary literals, in the order written")
    func dictionaryLiterals() async throws {
        let transport = Self.answering(Self.seats)
        let service = Self.atom(transport).enqueue(SeatmapEndpoint.list(flight: "AS1"))
        let seats = try await service.resume(expecting: [Seat].self)
        #expect(seats == [Seat(row: 12, letter: "A"), Seat(row: 12, letter: "B")])
        let request = try #require(transport.requests.first)
        #expect(
            request.target.absoluteString
                == "https://api.example.com/v1/flights/AS1/seats?cabin=first%20class&sort=row")
        #expect(request.headerFields.map(\.name) == ["X-Client", "Accept-Language"])
        let items: [HeaderItem] = ["A": "1", "A": "2"]
        #expect(items.map(\.value) == ["1", "2"])
    }

    @Test("Each method reaches the wire with its body")
    func methods() async throws {
        let transport = Self.answering("")
        let atom = Self.atom(transport)
        let body = Data("body".utf8)
        for endpoint in [
            SeatmapEndpoint.list(flight: "1"), .book(Seat(row: 1, letter: "A")), .cancel(id: 3), .change(body),
            .replace(body),
        ] {
            let response: AtomResponse = try await atom.enqueue(endpoint).resume()
            #expect(response.isSuccess)
        }
        #expect(transport.requests.map(\.method) == ["GET", "POST", "DELETE", "PATCH", "PUT"])
        #expect(transport.requests.map { $0.body?.count } == [nil, 22, nil, 4, 4])
    }

    @Test("An endpoint's own members, private or not, stay its own")
    func ownMembers() async throws {
        let transport = Self.answering("")
        let atom = Self.atom(transport)
        try await atom.enqueue(ChangeEndpoint(timeout: 3, path: "a")).resume()
        try await atom.enqueue(PublicEndpoint(timeout: 0.5, body: Data("x".utf8), path: "b", retryPolicy: 2)).resume()
        #expect(transport.requests.map(\.method) == ["PUT", "POST"])
        #expect(transport.requests.map(\.body) == [Data("{\"wait\":3}".utf8), Data("x".utf8)])
        #expect(
            transport.requests.map(\.target.absoluteString) == [
                "https://api.example.com/?file=a", "https://api.example.com/?file=b&wait=0.5&retries=2",
            ])
        #expect(transport.requests.map(\.transportRequest.idleTimeout) == [.seconds(30), .seconds(30)])
    }

    @Test("Data is the raw answer, and so is what comes without a type")
    func rawResults() async throws {
        let transport = Self.answering("raw", status: 201)
        let atom = Self.atom(transport)
        #expect(try await atom.enqueue(Bare.anything).resume(expecting: Data.self) == Data("raw".utf8))
        let response = try await atom.enqueue(Bare.anything).resume()
        #expect(response.data == Data("raw".utf8))
        #expect(response.statusCode == 201)
        #expect(response.httpResponse?.statusCode == 201)
        #expect(response.httpResponse?.url?.absoluteString == "https://api.example.com/")
        #expect(response.isSuccess && !response.isFailure)
        #expect(AtomResponse.success.isSuccess)
        #expect(AtomResponse.success.httpResponse?.statusCode == 200)
    }

    @Test("A refused endpoint is matched without its payload, and nothing is sent")
    func requestableErrors() async throws {
        let transport = Self.answering("")
        do {
            _ = try await Self.atom(transport).enqueue(SeatmapEndpoint.broken).resume(expecting: Seat.self)
            Issue.record("It was sent")
        } catch .requestable(.invalidBaseURL) {
            // As it should be.
        } catch {
            Issue.record("\(error)")
        }
        #expect(transport.exchanges.isEmpty)

        do {
            _ = try URLPath("no slash")
            Issue.record("It was accepted")
        } catch {
            switch error {
            case .requestable(.invalidURLPath): break
            default: Issue.record("\(error)")
            }
            if case .requestable(.invalidURLPath(let violation)) = error {
                #expect(violation.subject == "no slash")
            }
        }
        let thrown: RequestableError = .invalidURL
        #expect(thrown == .invalidURL)
        #expect(throws: AtomError.self) { try BaseURL(host: "/api.alaskaair.net") }
        #expect(try BaseURL(host: "a.example") == BaseURL(scheme: .https, host: "a.example"))
        #expect(try URLPath("/a") == URLPath("/a"))
    }

    @Test("A status that isn't acceptable is a typed error whose body can be read")
    func responseErrors() async {
        struct Problem: Decodable { let code: String }
        let transport = Self.answering(#"{"code":"seat_taken"}"#, status: 400)
        do {
            _ = try await Self.atom(transport).enqueue(Bare.anything).resume(expecting: Seat.self)
            Issue.record("It was accepted")
        } catch {
            #expect(error.isBadRequest)
            #expect(!error.isAuthorizationFailure)
            #expect((try? error.decodeIfPresent(as: Problem.self))?.code == "seat_taken")
            guard case .response(let response) = error else {
                Issue.record("\(error)")
                return
            }
            #expect(response.statusCode == 400)
        }
    }

    @Test("A body that isn't the model is a decoder error, a lost connection a session error")
    func otherErrors() async {
        do {
            _ = try await Self.atom(Self.answering("[]")).enqueue(Bare.anything).resume(expecting: Seat.self)
            Issue.record("It was decoded")
        } catch .decoder(let error) {
            guard case .typeMismatch = error else {
                Issue.record("\(error)")
                return
            }
        } catch {
            Issue.record("\(error)")
        }
        let transport = ScriptedTransport.held { $0.fail(.networkConnectionLost) }
        do {
            _ = try await Self.atom(transport).enqueue(Bare.anything).resume()
            Issue.record("It was answered")
        } catch .session(let error) {
            #expect((error as? URLError)?.code == .networkConnectionLost)
        } catch {
            Issue.record("\(error)")
        }
    }

    @Test("Completions are called on the configured queue, never inside resume")
    func completions() async {
        let key = DispatchSpecificKey<Bool>()
        let queue = DispatchQueue(label: "app")
        queue.setSpecific(key: key, value: true)
        let transport = Self.answering(Self.seats)
        let atom = Self.atom(transport, ServiceConfiguration(dispatchQueue: queue))

        let seats = await withCheckedContinuation { (continuation: CheckedContinuation<[Seat], Never>) in
            queue.async {
                // The queue is busy until resume has returned.
                atom.enqueue(Bare.anything).resume(expecting: [Seat].self) { result in
                    #expect(DispatchQueue.getSpecific(key: key) == true)
                    switch result {
                    case .success(let seats): continuation.resume(returning: seats)
                    case .failure(let error):
                        Issue.record("\(error)")
                        continuation.resume(returning: [])
                    }
                }
                #expect(transport.exchanges.count == 1, "the request is started when resume returns")
            }
        }
        #expect(seats.count == 2)

        let response = await withCheckedContinuation { continuation in
            atom.enqueue(Bare.anything).resume { result in
                #expect(DispatchQueue.getSpecific(key: key) == true)
                continuation.resume(returning: result)
            }
        }
        #expect((try? response.get())?.statusCode == 200)

        let refused = await withCheckedContinuation { continuation in
            atom.enqueue(SeatmapEndpoint.broken).resume(expecting: Seat.self) { result in
                #expect(DispatchQueue.getSpecific(key: key) == true)
                continuation.resume(returning: result)
            }
        }
        guard case .failure(.requestable(.invalidBaseURL)) = refused else {
            Issue.record("\(refused)")
            return
        }
    }

    @Test("By default completions are called on the main queue")
    func mainQueue() async {
        let key = DispatchSpecificKey<Bool>()
        DispatchQueue.main.setSpecific(key: key, value: true)
        let atom = Self.atom(Self.answering(""))
        let isMain = await withCheckedContinuation { continuation in
            atom.enqueue(Bare.anything).resume { _ in
                continuation.resume(returning: DispatchQueue.getSpecific(key: key))
            }
        }
        #expect(isMain == true)
    }

    @Test("A completion call can be cancelled, and gets the error")
    func cancellation() async {
        let transport = ScriptedTransport.held()
        let result = await withCheckedContinuation { continuation in
            let handle = Self.atom(transport).enqueue(Bare.anything).resume { continuation.resume(returning: $0) }
            handle.cancel()
            handle.cancel()
        }
        guard case .failure(.cancelled(.maybeSent)) = result else {
            Issue.record("\(result)")
            return
        }
        let exchange = await transport.exchange(0)
        #expect(exchange.cancelCount >= 1)
    }

    @Test("Nothing is sent before a resume, and each resume sends anew")
    func inert() async throws {
        let transport = Self.answering("")
        let service = Self.atom(transport).enqueue(Bare.anything)
        #expect(transport.exchanges.isEmpty)
        try await service.resume()
        try await service.resume()
        #expect(transport.exchanges.count == 2)
    }

    @Test("An actor may hold the Basic credential that signs what needs authorization")
    func basicAuthentication() async throws {
        let transport = Self.answering("")
        let configuration = ServiceConfiguration(
            authenticationMethod: .basic(CredentialHolder().basicCredential), configuration: .ephemeral,
            decoder: JSONDecoder(), dispatchQueue: .main, multipathServiceType: .none,
            timeout: ServiceTimeout(request: 30, resource: 30), isLogEnabled: false)
        let atom = Self.atom(transport, configuration)
        try await atom.enqueue(SeatmapEndpoint.cancel(id: 1)).resume()
        try await atom.enqueue(SeatmapEndpoint.list(flight: "1")).resume()
        #expect(
            transport.requests.map { $0.headerFields["Authorization"] }
                == ["Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==", nil])
    }

    @Test("A 401 is an authorization failure, announced after its caller has been told")
    func authorizationFailure() async {
        #expect(Atom.didFailToAuthorizeRequest.rawValue == "com.alaskaair.atom.didFailToAuthorizeRequest")
        do {
            try await Self.atom(Self.answering("", status: 401)).enqueue(Bare.anything).resume()
            Issue.record("It was accepted")
        } catch {
            #expect(error.isAuthorizationFailure)
        }
    }

    @Test("An app's own protocol is satisfied by a service")
    func ownProtocol() async throws {
        let atom = Self.atom(Self.answering(#"{"row":1,"letter":"F"}"#))
        let service: any Resuming = atom.enqueue(Bare.anything)
        #expect(try await service.resume(expecting: Seat.self) == Seat(row: 1, letter: "F"))
        #expect(try await service.resume().isSuccess)
        let other: any MainActorResuming = atom.enqueue(Bare.anything)
        #expect(try await other.resume(expecting: Seat.self).row == 1)
    }

    @Test("An app's own protocol may have the completion calls, without a result")
    func ownProtocolWithCompletions() async throws {
        let atom = Self.atom(Self.answering(Self.seats))
        let service: any AppService = atom.enqueue(Bare.anything)
        #expect(try await service.resume(expecting: [Seat].self).count == 2)
        #expect(try await service.resume().isSuccess)
        let seats = await withCheckedContinuation { continuation in
            service.resume(expecting: [Seat].self) { continuation.resume(returning: $0) }
        }
        #expect(try seats.get().count == 2)
        let response = await withCheckedContinuation { continuation in
            service.resume { continuation.resume(returning: $0) }
        }
        #expect(try response.get().isSuccess)
    }

    @Test("The progress behind what is expected, as in 1.0.0, does what it did")
    func progressBehind() async throws {
        let transport = ScriptedTransport.held { exchange in
            exchange.send(.sent(4))
            exchange.answer("[1]")
        }
        let service: any Reporting = Self.atom(transport).enqueue(SeatmapEndpoint.change(Data("body".utf8)))
        let (reports, report) = AsyncStream<Int64>.makeStream()
        #expect(try await service.resume(expecting: [Int].self) { report.yield($0.completed) } == [1])
        for await completed in reports.prefix(1) { #expect(completed == 4) }

        let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: file) }
        let response = try await service.download(
            to: file, isResumable: false, identity: nil, maximumSize: 3, progress: { report.yield($0.completed) })
        #expect(response.isSuccess)
        for await completed in reports.prefix(1) { #expect(completed == 3) }
        #expect(try Data(contentsOf: file) == Data("[1]".utf8))
    }

    @Test("A guest's request with an empty token says what to do, in the error and in the log")
    func guests() async throws {
        let transport = Self.answering("")
        let lines = Locked<[String]>([])
        let tokens = AppTokens()
        var configuration = ServiceConfiguration(
            authenticationMethod: .bearer(
                try AuthorizationEndpoint(host: "auth.example.com", path: "/token"), ClientCredential(id: "app"), tokens
            ),
            isLogEnabled: true)
        configuration.logHandler = { line in lines.with { $0.append(line) } }
        let atom = Self.atom(transport, configuration)
        let error = await #expect(throws: AtomError.self) {
            try await atom.enqueue(SeatmapEndpoint.cancel(id: 1)).resume()
        }
        guard case .authentication(.missingCredential(.notSent)) = error else { throw Unexpected("\(error as Any)") }
        let advice = "no user is signed in, or the token is no longer valid and can't be refreshed. An endpoint that"
        #expect(error?.description.contains(advice) == true)
        #expect(lines.value.contains { $0.contains(advice) })
        #expect(error?.isAuthorizationFailure == false && error?.isBadRequest == false)
        #expect(error?.isAccessTokenRefreshFailure == false)
        #expect(transport.requests.isEmpty)
        guard case .signedOut = atom.sessionState else { throw Unexpected("\(atom.sessionState)") }

        // Endpoints that need nobody are sent as they are, and so is the first request after a sign-in.
        try await atom.enqueue(SeatmapEndpoint.list(flight: "AS1")).resume()
        tokens.tokenCredential = TokenCredential(accessToken: "a", expiresAt: .distantFuture, refreshToken: "r")
        try await atom.enqueue(SeatmapEndpoint.cancel(id: 1)).resume()
        #expect(transport.requests.map { $0.headerFields["Authorization"] } == [nil, "Bearer a"])
    }

    @Test("A completion call may be what a function without a result returns", arguments: [nil, "AS1"])
    func returnedCompletionCalls(flight: String?) async throws {
        let client = AppClient(atom: Self.atom(Self.answering(Self.seats)))
        let endpoint = flight.map { SeatmapEndpoint.list(flight: $0) }
        let seats = await withCheckedContinuation { continuation in
            client.load(endpoint) { continuation.resume(returning: $0) }
        }
        #expect(try seats.get().count == 2)
        let response = await withCheckedContinuation { continuation in
            client.send(endpoint) { continuation.resume(returning: $0) }
        }
        #expect(try response.get().isSuccess)
    }

    @Test("The calls can be taken as functions, and a handle where one is asked for")
    func callsAsFunctions() async throws {
        let service = Self.atom(Self.answering(Self.seats)).enqueue(Bare.anything)
        let sending: () async throws(AtomError) -> AtomResponse = service.resume
        #expect(try await sending().isSuccess)
        let loading: ([Seat].Type) async throws -> [Seat] = service.resume(expecting:)
        #expect(try await loading([Seat].self).count == 2)
        let starting: (@Sendable @escaping (Result<AtomResponse, AtomError>) -> Void) -> Void = service.resume
        let response = await withCheckedContinuation { continuation in
            starting { continuation.resume(returning: $0) }
        }
        #expect(try response.get().isSuccess)
        let beginning: ([Seat].Type, @Sendable @escaping (Result<[Seat], AtomError>) -> Void) -> Void =
            service.resume(expecting:completion:)
        let seats = await withCheckedContinuation { continuation in
            beginning([Seat].self) { continuation.resume(returning: $0) }
        }
        #expect(try seats.get().count == 2)

        let handle = service.resume { _ in }
        let other = service.resume(expecting: [Seat].self, completion: { _ in })
        for handle: ServiceTask in [handle, other] { handle.cancel() }
    }

    @Test("A method's name that stands for itself makes the method of its body")
    func methodsWithoutContext() {
        let methods = [HTTPMethod.post, HTTPMethod.put, HTTPMethod.patch].map { $0(Data("a".utf8)) }
        #expect(methods.map(\.name) == ["POST", "PUT", "PATCH"])
        let make: @Sendable (Data) -> HTTPMethod = HTTPMethod.post
        #expect(make(Data("a".utf8)) == .post(Data("a".utf8)))
        let plain: HTTPMethod = .post
        #expect(plain == .post && plain.name == HTTPMethod.post.name)
        let conditional: HTTPMethod = plain == .put ? .put : .patch
        switch conditional {
        case .patch: break
        default: Issue.record("\(conditional)")
        }
    }

    @Test("An endpoint that says it the way of Atom 5 shares its request")
    func deduplication() async throws {
        struct Profile: Requestable {
            let allowsDeduplication: Bool
            func baseURL() throws(AtomError) -> BaseURL { try BaseURL(host: "api.example.com") }
        }
        for allows in [false, true] {
            let transport = ScriptedTransport.held()
            let atom = Self.atom(transport)
            let calls = (0..<2).map { _ in atom.call(Profile(allowsDeduplication: allows)) }
            #expect(transport.exchanges.count == (allows ? 1 : 2))
            for exchange in transport.exchanges { exchange.answer("") }
            for call in calls { #expect(try await call.outcome().get().isSuccess) }
        }
    }

    @Test("What makes a credential is sendable, and items can be compared")
    func refinements() {
        let basic: any BasicCredentialConvertible = AppCredentials()
        let client: any ClientCredentialConvertible = AppCredentials()
        #expect(isSendable(basic) && isSendable(client))
        #expect(contains(["a": "1"], QueryItem(name: "a", value: "1")))
        #expect(!contains(["a": "1"], HeaderItem(name: "a", value: "2")))
    }

    @Test("Every spelling of a bearer method makes one, and Atom's binds its three values")
    func bearer() throws {
        let endpoint = try AuthorizationEndpoint(host: "auth.example.com", path: "/token")
        let client = ClientCredential(id: "app")
        let tokens = AppTokens()
        let method: AuthenticationMethod = .bearer(endpoint, client, tokens)
        switch method {
        case .basic(let credential): Issue.record("\(credential)")
        case .bearer(let boundEndpoint, let boundClient, let writable):
            #expect(boundEndpoint == endpoint)
            #expect(boundClient == client)
            #expect(writable === tokens)
        case .none: Issue.record("none")
        default: Issue.record("\(method)")
        }
        if case .bearer(_, let bound, _) = method { #expect(bound.id == "app") } else { Issue.record("\(method)") }

        var options = BearerAuthentication(endpoint: endpoint, client: client, writable: tokens)
        options.leeway = .seconds(7)
        let others: [AuthenticationMethod] = [
            .bearer(options), .bearer(endpoint, client, AppStore()), .bearer(AppProvider(), AppStore()),
        ]
        for other in others {
            guard case .bearerAuthentication = other else {
                Issue.record("\(other)")
                continue
            }
        }
        if case .bearerAuthentication(let kept) = others[0] { #expect(kept.leeway == .seconds(7)) }
    }

    @Test("Errors are compared, cast and numbered as apps do it")
    func errorIdioms() async throws {
        struct Problem: Decodable { let code: String }
        do {
            _ = try URLPath("no slash")
        } catch .requestable(let error) {
            #expect(error == .invalidURLPath)
        } catch {
            throw error
        }
        do {
            try await Self.atom(Self.answering("<html>", status: 400)).enqueue(Bare.anything).resume()
        } catch {
            #expect((error as NSError).code == 2)
            do {
                _ = try error.decodeIfPresent(as: Problem.self)
                Issue.record("It was decoded")
            } catch let error as DecodingError {
                guard case .dataCorrupted = error else { throw error }
            }
        }
    }

    @Test("Data without a content type is a form, and fields of the transport don't refuse a request")
    func looseRequests() async throws {
        struct Loose: Requestable {
            var headerItems: [HeaderItem]? { ["Host": "api.example.com", "Content-Length": "3", "X-App": "1"] }
            var method: HTTPMethod { .post(Data("a=b".utf8)) }
            func baseURL() throws(AtomError) -> BaseURL { try BaseURL(host: "api.example.com") }
        }
        let transport = Self.answering("")
        try await Self.atom(transport).enqueue(Loose()).resume()
        let request = try #require(transport.requests.first)
        #expect(request.headerFields.map(\.name) == ["X-App", "Content-Type"])
        #expect(request.headerFields["Content-Type"] == "application/x-www-form-urlencoded")
    }

    @Test("Data and arrays of models are models")
    func models() throws {
        func isModel<T: Model>(_ type: T.Type) -> Bool { true }
        #expect(isModel(Data.self))
        #expect(isModel([Seat].self))
        #expect(isModel([[Seat]].self))
    }
}
