#if os(Linux)
    internal import CAtomCurl

    /// The libcurl of this process.
    struct CurlLibrary: Sendable {
        /// For example `7.88.1`.
        let version: String
        /// The same, as `0x07_58_01`.
        let number: UInt32
        let hasHTTP2: Bool
        /// Whether requests use HTTP/2; before 7.77 a body that the server cuts off over it counts as complete.
        var usesHTTP2: Bool { hasHTTP2 && number >= 0x07_4D_00 }
        let hasZlib: Bool
        /// The content codings that the SDK can decode, for `Accept-Encoding`.
        var contentCodings: String { hasZlib ? "gzip, deflate" : "identity" }
        /// Whether it tells before it sends a request, also again (7.80).
        var tellsOfSending: Bool { number >= 0x07_50_00 }
        /// Whether it tells a stream of HTTP/2 that was refused from others (7.77), when it is about to send again.
        var tellsOfRefusals: Bool { hasHTTP2 && tellsOfSending }
        /// Whether of a stream that a server leaves behind it tells only in words (7.88), and not always otherwise (8.1).
        var tellsOfLeavingInWords: Bool { (0x07_58_00..<0x08_01_00).contains(number) }
        /// Whether it has forgotten, when it sends again, what the server has said (8.20, perhaps 8.19).
        var forgetsWhyItRepeats: Bool { number >= 0x08_13_00 }
        /// Whether it counts the bytes that it sends of a request; 8.7 doesn't.
        var countsWhatItSends: Bool { !(0x08_07_00..<0x08_08_00).contains(number) }
        /// The same over TLS; from 8.2 to 8.6 it doesn't always do so over HTTP/2.
        var countsOverTLS: Bool { !(0x08_02_00..<0x08_08_00).contains(number) }
        /// Whether it tells when the response to a request with a body began; before 8.3 that is when it began to send.
        var tellsOfResponse: Bool { number >= 0x08_03_00 }
        /// Whether one stream of a connection can be left unread (8.1) without ending as if it were complete (8.4).
        var holdsSingleStreams: Bool { number >= 0x08_04_00 }
        /// Whether, beside a connection that multiplexes, it sends several requests at once over one of HTTP/1.1 (8.5).
        var confusesProtocols: Bool { number < 0x08_05_00 }
        /// Whether those that wait for a new connection are told only if it multiplexes, and not always (8.10).
        var forgetsWaiting: Bool { number >= 0x08_0A_00 }
        /// Whether it sends a request that got a 417 again without `Expect` (7.69).
        var repeatsUnexpected: Bool { number >= 0x07_45_00 }
        /// Whether it cuts a proxy's user name and password, before 7.71.
        var cutsProxyCredentials: Bool { number < 0x07_47_00 }
        /// Whether it takes a proxy's credentials for percent-encoded, before 8.8.
        var decodesProxyCredentials: Bool { number < 0x08_08_00 }
        /// Whether `Host` lacks the dot at the end of a host, before 7.82.
        var cutsLastDot: Bool { number < 0x07_52_00 }
        /// Whether a handle may be used for another exchange.
        var usesHandlesAgain: Bool { !(0x07_53_00..<0x08_02_00).contains(number) }

        /// `curl_multi_poll` and all that is used beside it work since then.
        private static let oldest = 0x07_44_00

        /// The library, or why it can't be used; found once for the process.
        static let loaded: Result<CurlLibrary, Unavailable> = {
            let found = atom_curl_load()
            guard found.number != 0, let text = found.text else {
                return .failure(Unavailable(reason: "libcurl.so.4 was not found"))
            }
            let version = String(cString: text)
            guard found.number >= oldest else {
                return .failure(Unavailable(reason: "libcurl is \(version), and 7.68 or later is needed"))
            }
            guard found.has_tls else {
                return .failure(Unavailable(reason: "libcurl \(version) was built without TLS"))
            }
            return .success(
                CurlLibrary(
                    version: version, number: found.number, hasHTTP2: found.has_http2, hasZlib: found.has_zlib))
        }()

        struct Unavailable: Error {
            let reason: String
        }
    }
#endif
