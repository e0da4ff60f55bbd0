#if os(Linux)
    internal import CAtomCurl
    import Foundation

    /// The default transport on Linux: libcurl, which every process with Foundation has loaded.
    ///
    /// One thread serves all connections of a transport. It starts with the first request, sleeps while nothing is to
    /// be done, and ends when the transport has been released and its last exchange has ended. No code of the app runs
    /// on it, but a `TimeSource` may be asked there.
    ///
    /// From libcurl 7.77 on HTTP/2 is used over TLS if the server offers it. gzip and deflate are decoded. libcurl itself
    /// follows no redirect, keeps no cookie or credential, has no timeouts, and sends nothing again.
    public final class CurlTransport: DirectTransport {
        private let settings: CurlSettings
        /// Started for the first request, and once more in a forked process.
        private let loop = Guarded<CurlLoop?>(nil)

        /// The version of the system's libcurl, for example `7.88.1`; `nil` if there is none that can be used.
        public static var libraryVersion: String? { try? CurlLibrary.loaded.get().version }

        /// Creates a transport; its thread starts with the first request.
        ///
        /// A pin is what this prints (RFC 7469 §2.4), also with `sha256/` before it:
        ///
        /// ```
        /// openssl x509 -in server.pem -pubkey -noout | openssl pkey -pubin -outform der \
        ///     | openssl dgst -sha256 -binary | base64
        /// ```
        ///
        /// - Parameters:
        ///   - authorities: The certificate authorities that a server's certificate
        ///     may come from, and that of an `https` proxy, as X.509 certificates in
        ///     PEM (RFC 7468); none by default. The certificate and its name are
        ///     always verified.
        ///   - trustsSystem: Whether it may also come from one of the system's;
        ///     `true` by default. `false` needs `authorities`.
        ///   - clientCertificate: The certificate that the client shows to a server
        ///     that asks for one.
        ///   - publicKeyPins: The digests of the public keys of which a server must
        ///     have one in its own certificate, in addition to a valid one; empty, the
        ///     default, accepts every key. They apply to every server of the transport. Pin
        ///     a second key that you hold in reserve, so that the server can change
        ///     its key.
        ///   - proxy: The proxy; by default what the environment names.
        ///   - connectionsPerOrigin: The number of connections to one origin, and
        ///     so of exchanges with it at once, over HTTP/1.1; values below 1 count
        ///     as 1, those above 1,048,576 as that. Over HTTP/2 one connection carries up to 100 exchanges at once.
        ///     A stream that is read and a download have a connection beside them.
        /// - Throws: ``AtomError/requestable(_:)`` with ``RequestableError/unsupportedConfiguration(_:)`` if a text
        ///   contains no certificate, or one that can't be decoded, if a pin isn't the base64 of 32 bytes, or if the
        ///   process has no libcurl 7.68 or later, or one that lacks what the arguments need to be safe, for example
        ///   public key pins.
        public convenience init(
            authorities: String? = nil, trustsSystem: Bool = true, clientCertificate: ClientCertificate? = nil,
            publicKeyPins: [String] = [], proxy: Proxy = .environment, connectionsPerOrigin: Int = 6
        ) throws(AtomError) {
            guard trustsSystem || authorities != nil else {
                throw .refused(
                    RequestableError.unsupportedConfiguration, "CurlTransport",
                    because: "without authorities no certificate would be trusted")
            }
            var configuration = Configuration(
                clientCertificate: clientCertificate, proxy: proxy, connectionsPerOrigin: connectionsPerOrigin)
            if let authorities {
                let certificates = try Certificates(pem: authorities)
                configuration.trust = trustsSystem ? .systemAnd(certificates) : .only(certificates)
            }
            for pin in publicKeyPins { configuration.publicKeyPins.append(try PublicKeyPin(sha256: pin)) }
            try self.init(configuration: configuration)
        }

        init(configuration: Configuration) throws(AtomError) {
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
            start(request, taker: nil, receive: receive)
        }

        func start(
            _ request: TransportRequest, taker: (any ResponseTaker)?,
            receive: @escaping @Sendable (TransportEvent) -> Void
        ) -> any TransportExchange {
            guard let loop = startedLoop() else {
                receive(.failed(TransportFailure(unsent: .unknown, "The process has no threads or descriptors left")))
                return EndedExchange()
            }
            let exchange = CurlExchange(request, loop: loop, taker: taker, receive: receive)
            if let body = request.body, body.length == 0, body.isStream {
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
