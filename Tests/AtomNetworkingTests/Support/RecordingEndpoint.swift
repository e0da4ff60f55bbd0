import AtomNetworking
import Foundation

/// An endpoint that counts how often each of its members is read.
final class RecordingEndpoint: Requestable, @unchecked Sendable {
    private let lock = NSLock()
    // Accessed only under `lock`.
    private var counts: [String: Int] = [:]

    private let values: Values

    private struct Values {
        var host: String
        var path: String?
        var method: HTTPMethod
        var headerItems: [HeaderItem]?
        var queryItems: [QueryItem]?
        var body: RequestBody?
        var requiresAuthorization: Bool
        var timeout: ServiceTimeout?
        var retryPolicy: RetryPolicy?
        var idempotency: Idempotency?
        var sharesIdenticalRequests: Bool
        var acceptableStatusCodes: ClosedRange<Int>
    }

    init(
        host: String = "api.example.com", path: String? = nil, method: HTTPMethod = .get,
        headerItems: [HeaderItem]? = nil, queryItems: [QueryItem]? = nil, body: RequestBody? = nil,
        requiresAuthorization: Bool = true, timeout: ServiceTimeout? = nil, retryPolicy: RetryPolicy? = nil,
        idempotency: Idempotency? = nil, sharesIdenticalRequests: Bool = false,
        acceptableStatusCodes: ClosedRange<Int> = 200...299
    ) {
        values = Values(
            host: host, path: path, method: method, headerItems: headerItems, queryItems: queryItems, body: body,
            requiresAuthorization: requiresAuthorization, timeout: timeout, retryPolicy: retryPolicy,
            idempotency: idempotency, sharesIdenticalRequests: sharesIdenticalRequests,
            acceptableStatusCodes: acceptableStatusCodes)
    }

    /// How often each member has been read so far.
    var reads: [String: Int] { lock.withLock { counts } }

    private func read<T>(_ value: T, _ name: String = #function) -> T {
        lock.withLock { counts[name, default: 0] += 1 }
        return value
    }

    var method: HTTPMethod { read(values.method) }
    var headerItems: [HeaderItem]? { read(values.headerItems) }
    var queryItems: [QueryItem]? { read(values.queryItems) }
    var body: RequestBody? { read(values.body) }
    var requiresAuthorization: Bool { read(values.requiresAuthorization) }
    var timeout: ServiceTimeout? { read(values.timeout) }
    var retryPolicy: RetryPolicy? { read(values.retryPolicy) }
    var idempotency: Idempotency? { read(values.idempotency) }
    var sharesIdenticalRequests: Bool { read(values.sharesIdenticalRequests) }
    var allowsDeduplication: Bool { read(false) }
    var acceptableStatusCodes: ClosedRange<Int> { read(values.acceptableStatusCodes) }

    func baseURL() throws(AtomError) -> BaseURL {
        try BaseURL(host: read(values.host))
    }

    func path() throws(AtomError) -> URLPath {
        guard let path = read(values.path) else { return try BareEndpoint().path() }
        return try URLPath(path)
    }
}

/// An endpoint with only a base URL, for the default values.
private struct BareEndpoint: Requestable {
    func baseURL() throws(AtomError) -> BaseURL { try BaseURL(host: "api.example.com") }
}
