import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The settings of a service.
///
/// The initializer's parameters are the most common settings; the others are
/// variables with defaults. <doc:GettingStarted> has an example.
public struct ServiceConfiguration: Sendable {
    #if os(iOS)
        /// Foundation's Multipath TCP service types.
        public typealias MultipathServiceType = URLSessionConfiguration.MultipathServiceType
    #else
        /// Multipath TCP service types, so that code shared between platforms compiles; they take effect only on iOS.
        public enum MultipathServiceType: Sendable, Hashable {
            /// No Multipath TCP.
            case none
            /// Switches from Wi-Fi to cellular.
            case handover
            /// Uses the interface that responds sooner.
            case interactive
            /// Uses both interfaces at once.
            case aggregate
        }
    #endif

    /// How requests are signed.
    ///
    /// <!-- given the airline -->
    /// ```swift
    /// configuration.authenticationMethod = .basic(BasicCredential(password: password, username: "ann"))
    /// ```
    public var authenticationMethod: AuthenticationMethod

    /// The system's session configuration.
    public var configuration: SessionConfiguration

    /// The decoder of every model; don't change it while the service is in use.
    ///
    /// <!-- given the airline -->
    /// ```swift
    /// configuration.decoder.dateDecodingStrategy = .iso8601
    /// configuration.decoder.keyDecodingStrategy = .convertFromSnakeCase
    /// ```
    public var decoder: JSONDecoder

    /// The queue of completions and publishers; async calls return to their caller's isolation.
    public var dispatchQueue: DispatchQueue

    /// Multipath TCP, on iOS; elsewhere it has no effect.
    public var multipathServiceType: MultipathServiceType

    /// The deadlines of requests without their own.
    ///
    /// <!-- given the airline -->
    /// ```swift
    /// configuration.timeout = ServiceTimeout(request: 10, resource: 60)  // seconds
    /// ```
    public var timeout: ServiceTimeout

    /// Whether what happens to every request is logged, without secrets.
    ///
    /// ``observers`` with a ``RequestLog`` write a log with levels.
    public var isLogEnabled: Bool

    /// The encoder of JSON bodies without their own; don't change it while the service is in use.
    public var encoder: JSONEncoder = JSONEncoder()

    /// Keeps the responses of endpoints that allow it; `nil`, the default, keeps none.
    ///
    /// <!-- given the airline -->
    /// ```swift
    /// configuration.cache = ResponseCache(memory: 8 << 20)  // bytes
    /// ```
    public var cache: ResponseCache?

    /// Header fields for every request; none by default.
    ///
    /// An endpoint's own field of the same name takes precedence, and so does the media type of a ``RequestBody``. The
    /// fields are checked like those of an endpoint, before anything is sent. They aren't sent to a token endpoint,
    /// which may belong to somebody else.
    ///
    /// An `Authorization` field takes the place of ``authenticationMethod``. It isn't sent for endpoints that need no
    /// authorization, and the allowed origins of that method don't apply to it. For a ``LinkedEndpoint`` that may not
    /// be signed only `Accept`, `User-Agent` and fields that begin with `Accept-` or `Content-` are added.
    ///
    /// <!-- given the airline -->
    /// ```swift
    /// configuration.headerItems = ["X-API-Key": key]
    /// ```
    public var headerItems: [HeaderItem] = []

    /// Change each request before it is checked, in this order; none by default.
    public var adapters: [any RequestAdapter] = []

    /// Add header fields to each attempt of a request, in this order; none by default.
    public var signers: [any RequestSigner] = []

    /// Stand around each request, the first one outermost; none by default.
    public var plugins: [any AtomPlugin] = []

    /// Hear what happens to each request; none by default.
    ///
    /// The requests with which the SDK itself gets and revokes tokens are among them.
    public var observers: [any RequestObserver] = []

    /// How many redirects in a row are followed; twenty by default.
    ///
    /// One more fails with `URLError.httpTooManyRedirects`. With `nil` the caller
    /// gets the redirect as ``AtomError/response(_:)``.
    ///
    /// Redirects follow RFC 9110 §15.4: 303 changes every method but HEAD to GET, 301 and 302 change POST to GET, and
    /// 307 and 308 keep method and body. When the origin changes, `Authorization`, `Cookie` and the endpoint's own
    /// header fields except `Accept…`, `Content-…` and `User-Agent` are removed for the rest of the exchange. What the
    /// SDK itself asks for stays: the range of a download that goes on, and the last event of a stream. A redirect from
    /// HTTPS to HTTP is never followed: the caller gets it as the response.
    public var redirectLimit: Int? = 20

    /// Whether requests of endpoints without their own policy are sent again after a failure.
    ///
    /// By default only what ``RetryPolicy/none`` names is sent again: once, and at once.
    ///
    /// <!-- given the airline -->
    /// ```swift
    /// configuration.retryPolicy = .standard
    /// ```
    public var retryPolicy: RetryPolicy = .none

    /// The largest body in bytes that is collected in memory; 256 MiB by default.
    ///
    /// A larger body fails with `URLError.dataLengthExceedsMaximum`.
    public var maximumResponseSize: Int = 256 << 20

    /// How many requests to one origin are on the wire at once.
    ///
    /// Other requests wait, first in, first out, and their idle timeout doesn't run. `nil`, the default, uses the
    /// transport's own number: six, and 100 for an origin that is known to speak HTTP/2 or HTTP/3. Values below 1 count
    /// as 1. A stream that is read, and a download, are not counted.
    ///
    /// A request that gets a 401 to retry, or a redirect, counts until the head
    /// of that response. Its body may arrive for about half a second more.
    public var maximumExchangesPerOrigin: Int?

    /// Sends requests to the network; `nil`, the default, uses
    /// ``CurlTransport`` on Linux and ``URLSessionTransport`` elsewhere.
    public var transport: (any Transport)?

    /// The clock and the timers; the system's by default.
    ///
    /// A test uses a clock that it advances itself. Services that keep their tokens in the same object share one
    /// session. The session goes by the clock of the service that was created first, for as long as that session
    /// exists; the requests of each service go by its own.
    ///
    /// It has no effect on the lock of a store that is shared between
    /// processes, and none on the time that a ``Transport`` takes.
    public var timeSource: any TimeSource = SystemTimeSource()

    /// For tests that wait until the code under test has got its results: called once for each call, directly before an
    /// async caller goes on, in its isolation, and directly after a completion, on its queue.
    ///
    /// So on the main actor everything that a caller does up to its next suspension is done before other work. It is
    /// also called for an error, but not for an async call in a task that was cancelled before; for a stream when its
    /// head is there, and for nothing later.
    package var resultHandler: (@Sendable () -> Void)?

    /// Gets log lines when ``isLogEnabled`` is set, on any thread.
    ///
    /// `nil`, the default, writes to the unified log on Apple platforms and to standard error elsewhere.
    public var logHandler: (@Sendable (String) -> Void)?

    /// Creates a configuration.
    public init(
        authenticationMethod: AuthenticationMethod = .none,
        cache: ResponseCache? = nil,
        configuration: SessionConfiguration = .ephemeral,
        decoder: JSONDecoder = JSONDecoder(),
        dispatchQueue: DispatchQueue = .main,
        multipathServiceType: MultipathServiceType = .none,
        plugins: [any AtomPlugin] = [],
        timeout: ServiceTimeout = ServiceTimeout(),
        isLogEnabled: Bool = false
    ) {
        self.authenticationMethod = authenticationMethod
        self.cache = cache
        self.configuration = configuration
        self.decoder = decoder
        self.dispatchQueue = dispatchQueue
        self.multipathServiceType = multipathServiceType
        self.plugins = plugins
        self.timeout = timeout
        self.isLogEnabled = isLogEnabled
    }

    /// Creates a configuration with a ``ResponseCache`` that has the capacities of a `URLCache`.
    ///
    /// The cache keeps nothing in the `URLCache` itself. What it keeps on the disk is in the folder
    /// `AtomNetworking.ResponseCache` of the user's caches, in one for this app and capacity; responses to signed requests
    /// are in memory only. Endpoints say whether they use it: ``Requestable/caching``.
    ///
    /// <!-- given: import AtomNetworking
    /// import Foundation
    /// -->
    /// ```swift
    /// let cache = URLCache(memoryCapacity: 8 << 20, diskCapacity: 64 << 20, diskPath: nil)  // bytes
    /// let configuration = ServiceConfiguration(cache: cache)
    /// ```
    @_disfavoredOverload
    public init(
        authenticationMethod: AuthenticationMethod = .none,
        cache: URLCache?,
        configuration: SessionConfiguration = .ephemeral,
        decoder: JSONDecoder = JSONDecoder(),
        dispatchQueue: DispatchQueue = .main,
        multipathServiceType: MultipathServiceType = .none,
        plugins: [any AtomPlugin] = [],
        timeout: ServiceTimeout = ServiceTimeout(),
        isLogEnabled: Bool = false
    ) {
        self.init(
            authenticationMethod: authenticationMethod, cache: cache.map { ResponseCache(asLargeAs: $0) },
            configuration: configuration, decoder: decoder, dispatchQueue: dispatchQueue,
            multipathServiceType: multipathServiceType, plugins: plugins, timeout: timeout,
            isLogEnabled: isLogEnabled)
    }
}

extension ResponseCache {
    fileprivate convenience init(asLargeAs cache: URLCache) {
        var disk: Disk?
        if cache.diskCapacity > 0,
            let caches = FileManager.default.urls(for: .cachesDirectory, in: .userDomainMask).first
        {
            // Not that of another app, nor of a cache with another capacity: each would remove what the other has.
            let name = Bundle.main.bundleIdentifier ?? ProcessInfo.processInfo.processName
            disk = Disk(
                folder: caches.appendingPathComponent("AtomNetworking.ResponseCache", isDirectory: true)
                    .appendingPathComponent("\(name)-\(cache.diskCapacity)", isDirectory: true),
                capacity: Int64(cache.diskCapacity))
        }
        self.init(memory: max(cache.memoryCapacity, 0), disk: disk)
    }
}

extension ServiceConfiguration {
    /// Creates the platform's transport, for a transport of yours that passes requests on to it.
    ///
    /// It is ``CurlTransport`` on Linux and ``URLSessionTransport`` elsewhere. If libcurl can't be used, it is
    /// ``URLSessionTransport`` on Linux too, and the log says why.
    public func makeDefaultTransport() -> any Transport {
        #if os(Linux)
            return makeTransport { () throws(AtomError) in try CurlTransport() }
        #elseif os(iOS)
            return URLSessionTransport(configuration: configuration, multipathServiceType: multipathServiceType)
        #else
            return URLSessionTransport(configuration: configuration)
        #endif
    }

    /// The log that ``isLogEnabled`` asks for, with every line.
    var log: RequestLog? {
        guard isLogEnabled else { return nil }
        guard let logHandler else { return .system(from: .debug) }
        return RequestLog(from: .debug) { _, line in logHandler(line) }
    }

    #if os(Linux)
        /// The preferred transport, or URLSession where it can't be created.
        func makeTransport(preferring make: () throws(AtomError) -> any Transport) -> any Transport {
            do {
                return try make()
            } catch {
                log?.note("URLSession sends the requests, because libcurl can't be used: \(error.description)")
                return URLSessionTransport(configuration: configuration)
            }
        }
    #endif
}
