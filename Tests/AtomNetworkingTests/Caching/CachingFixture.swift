import AtomNetworkingTesting
import Foundation
import Testing

@testable import AtomNetworking

/// An endpoint that uses the cache.
struct CachedEndpoint: Requestable {
    var pathText = "/x"
    var method: HTTPMethod = .get
    var headerItems: [HeaderItem]?
    var body: RequestBody?
    var requiresAuthorization = true
    var acceptableStatusCodes = 200...299
    var timeout: ServiceTimeout?
    var retryPolicy: RetryPolicy?
    var sharesIdenticalRequests = false
    var caching: ResponseCaching = .whileCacheFresh

    func baseURL() throws(AtomError) -> BaseURL { try BaseURL(host: "api.example.com") }
    func path() throws(AtomError) -> URLPath { try URLPath(pathText) }
}

/// A storage in memory, whose reads and writes the test can hold up or let fail.
final class ScriptedStorage: ResponseStorage {
    struct Failure: Error {}

    private struct State {
        var groups: [String: [String: Data]] = [:]
        var closed: Set<String> = []
        var calls: [String] = []
        var fails = false
    }

    private let state = Locked(State())
    private let reading = NSLock()

    /// Reads wait from now on.
    func hold() { reading.lock() }
    /// The reads that have waited go on.
    func letGo() { reading.unlock() }

    /// The names of the groups that have something.
    var groups: Set<String> { state.with { Set($0.groups.filter { !$0.value.isEmpty }.keys) } }
    var count: Int { state.with { $0.groups.values.reduce(0) { $0 + $1.count } } }
    var calls: [String] { state.with { $0.calls } }
    func fails(_ fails: Bool = true) { state.with { $0.fails = fails } }

    private func call<T: Sendable>(_ name: String, _ body: @Sendable (inout State) -> T) throws -> T {
        try state.with { state in
            state.calls.append(name)
            if state.fails { throw Failure() }
            return body(&state)
        }
    }

    func data(named name: String, in group: String) throws -> Data? {
        try reading.withLock { try call("read") { $0.groups[group]?[name] } }
    }

    func store(_ data: Data, named name: String, in group: String) throws {
        try call("store") { if !$0.closed.contains(group) { $0.groups[group, default: [:]][name] = data } }
    }

    func remove(named name: String, in group: String) throws {
        try call("remove") { _ = $0.groups[group]?.removeValue(forKey: name) }
    }

    func move(group: String, to other: String) throws {
        try call("move") { state in
            let moved = state.groups.removeValue(forKey: group) ?? [:]
            state.groups[other, default: [:]].merge(moved) { kept, _ in kept }
        }
    }

    func end(group: String) throws {
        try call("end") {
            $0.groups[group] = nil
            $0.closed.insert(group)
        }
    }

    func removeAll(except group: String?) throws {
        try call("removeAll") { state in state.groups = state.groups.filter { $0.key == group } }
    }
}

extension AtomResponse {
    /// The source and the body.
    var told: String { "\(body) from \(source)" }
}

extension Call {
    /// What the caller got: the body and where it is from, or the error.
    func told(sourceLocation: SourceLocation = #_sourceLocation) async -> String {
        switch await outcome(sourceLocation: sourceLocation) {
        case .success(let response): response.told
        case .failure(let error): "\(error)"
        }
    }
}

extension ScriptedExchange {
    /// A response that is fresh for a minute, with a validator.
    func answerFresh(_ body: String, tag: String = "1", headers: [(String, String)] = []) {
        answer(body, headers: [("Cache-Control", "max-age=60"), ("ETag", "\"\(tag)\"")] + headers)
    }

    func header(_ name: String) -> String? { request.headerFields[name] }
}
