#if os(Linux)
    internal import CAtomCurl
    import Foundation
    import FoundationNetworking

    /// The default transport on Linux: libcurl, which every process with
    /// Foundation has loaded.
    ///
    /// One thread serves all connections of a transport. It starts with the
    /// first request, sleeps while nothing is to be done, and ends when the
    /// transport has been released and its last exchange has ended. No code of
    /// the app runs on it.
    ///
    /// ```swift
    /// import AtomNetworking
    /// import Foundation
    ///
    /// var curl = CurlTransport.Configuration()
    /// curl.trust = .systemAnd(try .init(contentsOf: URL(fileURLWithPath: "company.pem")))
    /// var configuration = ServiceConfiguration()
    /// configuration.transport = try CurlTransport(configuration: curl)
    /// ```
    ///
    /// HTTP/2 is used over TLS if the server offers it. gzip and deflate are
    /// decoded. libcurl itself follows no redirect, keeps no cookie or credential,
    /// has no timeouts, and sends nothing again.
    public final class CurlTransport: Transport {
        private let settings: CurlSettings
        /// Started for the first request, and once more in a forked process.
        private let loop = Guarded<CurlLoop?>(nil)

        /// The version of the system's libcurl, for example `7.88.1`; `nil` if
        /// there is none that can be used.
        public static var libraryVersion: String? { try? CurlLibrary.loaded.get().version }

        /// Creates a transport; its thread starts with the first request.
        ///
        /// - Throws: ``RequestableError/unsupportedConfiguration(_:)`` if the process has
        ///   no libcurl 7.68 or later, or one that lacks what the settings need to
        ///   be safe, for example public key pins.
        public init(configuration: Configuration = Configuration()) throws(AtomError) {
            switch CurlLibrary.loaded {
            case .success(let library):
                settings = try CurlSettings(configuration, library: library)
                try settings.check()
            case .failure(let failure):
                throw .refused(RequestableError.unsupportedConfiguration, "CurlTransport", because: failure.reason)
            }
        }

        deinit {
            loop.withLock { $0 }?.stop()
        }

        /// The number of connections to one origin.
        ///
        /// It rises to 100 for an origin that speaks HTTP/2.
        public var exchangesPerOrigin: Int? { settings.connectionsPerOrigin }

        /// Hands the request to the transport's thread.
        public func start(
            _ request: TransportRequest, receive: @escaping @Sendable (TransportEvent) -> Void
        ) -> any TransportExchange {
            guard let loop = startedLoop() else {
                receive(.failed(TransportFailure(unsent: .unknown, "The process has no threads or descriptors left")))
                return EndedExchange()
            }
            let exchange = CurlExchange(request, loop: loop, receive: receive)
            if case .stream(let body)? = request.body, body.length == 0, case .sequence = body.source {
                exchange.start(after: body.makeReader(), of: self)
            } else {
                loop.start(exchange)
            }
            return exchange
        }

        private func startedLoop() -> CurlLoop? {
            loop.withLock { loop in
                if let loop, !loop.isOfAnotherProcess { return loop }
                // The other loop's connections are the parent's too, and left alone.
                let started = CurlLoop(settings)
                loop = started
                return started
            }
        }
    }
#endif
