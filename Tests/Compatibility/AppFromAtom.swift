// A small app as it was written for Atom 4.6, after a move that has changed nothing but the package. Only where the SDK
// needs another spelling, a comment says so. `.ci/check-markdown-code` compiles each file of this folder.

import AtomNetworking
import Foundation

// MARK: - Models and endpoints

struct Seat: Model, Equatable {
    let row: Int
    let letter: String
}

struct Booking: Model {
    let id: String
    let seats: [Seat]
    let changedAt: Date?
}

struct Problem: Codable, Sendable {
    let code: String
}

enum SeatmapEndpoint: Requestable {
    case list(flight: String, cabin: String?)
    case book(Seat)
    case change(id: String, Data)
    case replace(id: String, Data)
    case cancel(id: String)

    var headerItems: [HeaderItem]? {
        ["Accept-Language": "en", "X-Client": "app"]
    }

    var method: HTTPMethod {
        switch self {
        case .list: .get
        case .book(let seat): .post((try? JSONEncoder().encode(seat)) ?? Data())
        case .change(_, let data): .patch(data)
        case .replace(_, let data): .put(data)
        case .cancel: .delete
        }
    }

    var queryItems: [QueryItem]? {
        guard case .list(_, let cabin?) = self else { return nil }
        return ["cabin": cabin, "sort": "row"]
    }

    var requiresAuthorization: Bool {
        if case .list = self { false } else { true }
    }

    func baseURL() throws(AtomError) -> BaseURL {
        try BaseURL(scheme: .https, host: "api.example.com")
    }

    func path() throws(AtomError) -> URLPath {
        switch self {
        case .list(let flight, _): try URLPath("/v1/flights/\(flight)/seats")
        case .book: try URLPath("/v1/bookings")
        case .change(let id, _), .replace(let id, _), .cancel(let id): try URLPath("/v1/bookings/\(id)")
        }
    }
}

// Its own members have names that the SDK's protocol has for other types.
struct ReceiptEndpoint: Requestable {
    private let path: String
    private let timeout: Double
    private var body: Data { Data(#"{"wait":\#(timeout)}"#.utf8) }

    init(path: String, timeout: Double) {
        self.path = path
        self.timeout = timeout
    }

    var method: HTTPMethod { .put(body) }
    var queryItems: [QueryItem]? { [QueryItem(name: "file", value: path)] }
    func baseURL() throws(AtomError) -> BaseURL { try BaseURL(host: "files.example.com") }
}

extension Requestable {
    var knownStatusCodes: ClosedRange<Int> { 200...399 }
}

// MARK: - Tokens

final class Tokens: TokenCredentialWritable, @unchecked Sendable {
    private let lock = NSLock()
    private var stored = TokenCredential(accessToken: "", expiresAt: .distantPast, refreshToken: "")

    var tokenCredential: TokenCredential {
        get { lock.withLock { stored } }
        set { lock.withLock { stored = newValue } }
    }
}

struct Secrets: BasicCredentialConvertible, ClientCredentialConvertible {
    var basicCredential: BasicCredential { BasicCredential(password: "open sesame", username: "Aladdin") }
    var clientCredential: ClientCredential { ClientCredential(id: "app", secret: "a+b=") }
}

func configuration(tokens: Tokens, secrets: Secrets) throws -> ServiceConfiguration {
    let endpoint = try AuthorizationEndpoint(host: "auth.example.com", path: "/oauth/token")
    return ServiceConfiguration(
        authenticationMethod: .bearer(endpoint, secrets.clientCredential, tokens), configuration: .ephemeral,
        decoder: JSONDecoder(), dispatchQueue: .main, multipathServiceType: .none,
        timeout: ServiceTimeout(request: 30, resource: 60), isLogEnabled: true)
}

// MARK: - A client of its own around the services

protocol NetworkService: Sendable {
    func resume<T: Model>(expecting type: T.Type) async throws(AtomError) -> T
    func resume() async throws(AtomError) -> AtomResponse
    func resume<T: Model>(expecting type: T.Type, completion: @Sendable @escaping (Result<T, AtomError>) -> Void)
    func resume(_ completion: @Sendable @escaping (Result<AtomResponse, AtomError>) -> Void)
}

extension Service: NetworkService {}

final class SeatmapClient: Sendable {
    private let atom: Atom

    init(atom: Atom = Atom()) { self.atom = atom }

    func seats(flight: String) async throws(AtomError) -> [Seat] {
        try await atom.enqueue(SeatmapEndpoint.list(flight: flight, cabin: nil)).resume(expecting: [Seat].self)
    }

    func cancel(id: String) async throws -> Bool {
        let response = try await atom.enqueue(SeatmapEndpoint.cancel(id: id)).resume()
        return response.isSuccess && response.statusCode == 204 && response.data.isEmpty
    }

    func receipt(path: String) async throws -> Data {
        try await atom.enqueue(ReceiptEndpoint(path: path, timeout: 3)).resume(expecting: Data.self)
    }

    func load(flight: String?, completion: @Sendable @escaping (Result<[Seat], AtomError>) -> Void) {
        guard let flight else {
            return atom.enqueue(SeatmapEndpoint.list(flight: "AS1", cabin: "first")).resume(
                expecting: [Seat].self, completion: completion)
        }
        atom.enqueue(SeatmapEndpoint.list(flight: flight, cabin: nil)).resume(expecting: [Seat].self) { result in
            completion(result)
        }
    }

    func send(_ endpoint: SeatmapEndpoint, completion: @Sendable @escaping (Result<AtomResponse, AtomError>) -> Void) {
        atom.enqueue(endpoint).resume { completion($0) }
    }

    func service(for endpoint: any Requestable) -> any NetworkService {
        func opened(_ endpoint: some Requestable) -> any NetworkService { atom.enqueue(endpoint) }
        return opened(endpoint)
    }
}

// MARK: - Errors

// A switch over the SDK's enums needs a default.
func message(for error: AtomError) -> String {
    switch error {
    case .requestable(.invalidBaseURL), .requestable(.invalidURLPath): "Not sent"
    case .response(let response) where response.statusCode == 404: "Not found"
    case .decoder(let error): "Not understood: \(error)"
    case .session(let error): (error as? URLError)?.code == .timedOut ? "Too slow" : error.localizedDescription
    default: error.isAuthorizationFailure || error.isAccessTokenRefreshFailure ? "Sign in again" : "Try later"
    }
}

func problem(in error: AtomError) -> Problem? {
    guard error.isBadRequest else { return nil }
    return try? error.decodeIfPresent(as: Problem.self)
}

// MARK: - A screen

@MainActor final class SeatmapModel {
    private(set) var seats: [Seat] = []
    private(set) var text: String?
    private let client: SeatmapClient
    private var observers: [any NSObjectProtocol] = []

    init(client: SeatmapClient) { self.client = client }

    func appear() {
        for name in [Atom.didFailToAuthorizeRequest, Atom.didFailToRefreshAccessToken] {
            observers.append(
                NotificationCenter.default.addObserver(forName: name, object: nil, queue: .main) { [weak self] note in
                    let error = note.userInfo?["error"] as? AtomError
                    Task { @MainActor [weak self] in self?.text = error.map(message) }
                })
        }
        client.load(flight: nil) { [weak self] result in
            Task { @MainActor [weak self] in self?.show(result) }
        }
    }

    func reload(flight: String) async {
        do {
            seats = try await client.seats(flight: flight)
        } catch {
            text = problem(in: error)?.code ?? message(for: error)
        }
    }

    private func show(_ result: Result<[Seat], AtomError>) {
        switch result {
        case .success(let seats): self.seats = seats
        case .failure(let error): text = message(for: error)
        }
    }
}
