// An app that has names of its own where the SDK has some, and members as people write them.

import AtomNetworking
import Foundation

// MARK: - Defaults of all its endpoints, which the SDK's protocol has for other types

extension Requestable {
    var timeout: TimeInterval { 10 }
    var body: Data? { nil }
    var retryPolicy: Int { 3 }
    var idempotency: String? { nil }
    var acceptableStatusCodes: Set<Int> { [200, 204] }
    var sharesIdenticalRequests: String { "no" }
    var path: String { "/" }
}

nonisolated protocol AirlineEndpoint: Requestable {}

nonisolated extension AirlineEndpoint {
    var headerItems: [HeaderItem]? { ["Accept-Language": "en"] }
    func baseURL() throws(AtomError) -> BaseURL { try BaseURL(host: "api.example.com") }
}

struct Flight: AirlineEndpoint {
    let number: String
    func path() throws(AtomError) -> URLPath { try URLPath("/v1/flights/\(number)") }
}

struct Seat: AirlineEndpoint {
    let method: HTTPMethod = .post
    let queryItems: [QueryItem]
    let timeout = ServiceTimeout(request: 5, resource: 5)
    let body = RequestBody.json(["12A"])
    let retryPolicy = AtomNetworking.RetryPolicy.standard
    let idempotency = Idempotency.byKey
}

final class Bag: AirlineEndpoint {
    let method: HTTPMethod
    init(_ bytes: Data?) { method = bytes.map(HTTPMethod.put) ?? .patch }
}

enum Meal: AirlineEndpoint {
    case order(Data)
    case change

    var method: HTTPMethod {
        switch self {
        case .order(let bytes): HTTPMethod.post(bytes)
        case .change: HTTPMethod.put
        }
    }
}

func hasBody(_ method: HTTPMethod) -> Bool {
    switch method {
    case .post, .put, .patch: true
    default: false
    }
}

func seconds(of flight: Flight) -> TimeInterval { flight.timeout * 2 }

// MARK: - An endpoint around another one: what it calls may throw any error

struct Traced<Base: Requestable>: Requestable {
    let base: Base
    var method: HTTPMethod { base.method }
    var queryItems: [QueryItem]? { base.queryItems }
    var headerItems: [HeaderItem]? { (base.headerItems ?? []) + ["X-Trace": "1"] }
    func baseURL() throws -> BaseURL { try base.baseURL() }
    func path() throws -> URLPath { try base.path() }
}

// MARK: - Types and members with names of the SDK's: its own count here

struct RetryPolicy { var count = 3 }
enum AuthenticationError: Error { case expired }
enum LogLevel { case loud }
enum SessionState { case guest, member }
struct NoContent: Decodable, Sendable {}

extension AtomError {
    var isCancelled: Bool { false }
    var response: AtomResponse? { nil }
}

extension HTTPMethod {
    var name: String { "\(self)" }
}

func text(for error: AtomError, _ method: HTTPMethod) -> String {
    error.isCancelled || error.response == nil ? method.name : "\(RetryPolicy().count)"
}

func state(of atom: Atom) -> SessionState {
    let state: AtomNetworking.SessionState = atom.sessionState
    if case .signedIn = state { return .member }
    return .guest
}

// MARK: - Calls

func load(_ atom: Atom) async throws -> ([String], Seat?) {
    atom.enqueue(Flight(number: "1")).resume(expecting: [String].self, completion: { print($0) })
    atom.enqueue(Flight(number: "1")).resume { (result: Result<AtomResponse, AtomError>) in print(result) }
    _ = try await atom.enqueue(Seat(queryItems: [])).resume(
        progress: { print($0.completed) }, expecting: String.self)
    try await atom.enqueue(Flight(number: "2")).download(
        progress: { print($0.completed) }, to: URL(fileURLWithPath: "flight"))
    let optional = try await atom.enqueue(Flight(number: "3")).resume(expecting: [String]?.self)
    return (optional ?? [], nil)
}
