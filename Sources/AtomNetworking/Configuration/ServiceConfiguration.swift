import Foundation

/// Everything that a service is told once.
///
/// The initializer's parameters are the ones an app usually sets; the rest are
/// variables with defaults.
///
/// ```swift
/// var configuration = ServiceConfiguration(timeout: ServiceTimeout(request: 10, resource: 60))
/// configuration.redirectPolicy = .doNotFollow
/// let atom = Atom(serviceConfiguration: configuration)
/// ```
public struct ServiceConfiguration: Sendable {
    #if os(iOS)
        /// Foundation's Multipath TCP service types.
        public typealias MultipathServiceType = URLSessionConfiguration.MultipathServiceType
    #else
        /// Multipath TCP service types, so that code shared between platforms
        /// compiles; they have an effect on iOS only.
        public enum MultipathServiceType: Sendable, Hashable {
            /// No Multipath TCP.
            case none
            /// Hands over from Wi-Fi to cellular.
            case handover
            /// Uses the interface that answers sooner.
            case interactive
            /// Uses both interfaces at once.
            case aggregate
        }
    #endif

    /// How requests are signed.
    public var authenticationMethod: AuthenticationMethod

    /// Which session configuration of the system is used.
    public var configuration: SessionConfiguration

    /// Decodes every model; don't change it while the service is in use.
    public var decoder: JSONDecoder

    /// Where completions and publishers deliver; async calls return to their
    /// caller's isolation.
    public var dispatchQueue: DispatchQueue

    /// Multipath TCP, on iOS; elsewhere it has no effect.
    public var multipathServiceType: MultipathServiceType

    /// The deadlines of requests that name none of their own.
    public var timeout: ServiceTimeout

    /// Whether every request and its outcome are logged, secrets left out.
    public var isLogEnabled: Bool

    /// What happens on a redirect; twenty in a row are followed by default.
    public var redirectPolicy: RedirectPolicy = .follow(limit: 20)

    /// The largest body in bytes that is collected in memory; 256 MiB by default.
    ///
    /// A larger one fails with `URLError.dataLengthExceedsMaximum`.
    public var maximumResponseSize: Int = 256 << 20

    /// How many requests to one origin are on the wire at once; the others
    /// wait, first in first out, without their idle timeout running.
    ///
    /// `nil`, the default, takes the transport's own number: six with
    /// URLSession on Linux, no limit on Apple's systems. Values below 1 are 1.
    public var maximumExchangesPerOrigin: Int?

    /// Carries requests to the network; `nil`, the default, is URLSession.
    public var transport: (any Transport)?

    /// Takes log lines when ``isLogEnabled`` is set, on any thread; `nil`, the
    /// default, writes to the unified log on Apple's systems and to standard
    /// error elsewhere.
    public var logHandler: (@Sendable (String) -> Void)?

    /// Makes a configuration.
    public init(
        authenticationMethod: AuthenticationMethod = .none,
        configuration: SessionConfiguration = .ephemeral,
        decoder: JSONDecoder = JSONDecoder(),
        dispatchQueue: DispatchQueue = .main,
        multipathServiceType: MultipathServiceType = .none,
        timeout: ServiceTimeout = ServiceTimeout(),
        isLogEnabled: Bool = false
    ) {
        self.authenticationMethod = authenticationMethod
        self.configuration = configuration
        self.decoder = decoder
        self.dispatchQueue = dispatchQueue
        self.multipathServiceType = multipathServiceType
        self.timeout = timeout
        self.isLogEnabled = isLogEnabled
    }
}

extension ServiceConfiguration {
    /// The default transport, as this configuration wants it.
    func makeURLSessionTransport() -> URLSessionTransport {
        #if os(iOS)
            URLSessionTransport(configuration: configuration, multipathServiceType: multipathServiceType)
        #else
            URLSessionTransport(configuration: configuration)
        #endif
    }
}
