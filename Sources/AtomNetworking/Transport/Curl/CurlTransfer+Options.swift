#if os(Linux)
    internal import CAtomCurl
    import Foundation

    extension CurlTransfer {
        static let usualTimeout = Duration.seconds(240)

        /// Sets the options of a request on a new handle, and returns what libcurl refuses.
        func set(_ request: TransportRequest, on easy: atom_curl_easy) -> WireProblem? {
            let proxy: CurlTransport.ProxyServer?
            do {
                proxy = try settings.proxy(for: request.target)
            } catch {
                return .unusableProxy(error.reason)
            }
            if let problem = settings.set(proxy, on: easy) { return problem }
            hasSecureProxy = proxy?.isSecure == true
            guard setMethod(request, on: easy) else { return .badURL }
            if let problem = setMessage(request, isProxied: proxy != nil, on: easy) { return problem }
            if let body = request.body, body.isStream { reader = BodyReadAhead(body) }
            if request.needsFreshConnection {
                guard settings.set(ATOM_CURLOPT_FRESH_CONNECT, 1, on: easy),
                    settings.set(ATOM_CURLOPT_FORBID_REUSE, 1, on: easy)
                else { return .other(.unknown, "libcurl doesn't accept that a connection is new") }
                // It may be waited for after its deadline; a network that is gone says nothing.
                atom_curl_set_long(easy, CInt(ATOM_CURLOPT_TCP_KEEPALIVE), 1)
            }
            // libcurl's own limit is five minutes; another one costs a timer.
            if request.idleTimeout > Self.usualTimeout {
                atom_curl_set_long(easy, CInt(ATOM_CURLOPT_CONNECTTIMEOUT_MS), Int(CInt.max))
            }
            return nil
        }

        /// Sets what differs between plain exchanges, and returns what libcurl refuses.
        func setMessage(_ request: TransportRequest, isProxied: Bool, on easy: atom_curl_easy) -> WireProblem? {
            guard setTarget(request.target, isProxied: isProxied, on: easy) else { return .badURL }
            guard setHeader(request, isProxied: isProxied, on: easy) else {
                return .other(.dataLengthExceedsMaximum, "The head of the request is larger than 125 KiB")
            }
            return nil
        }

        /// Sets the URL of the server, which libcurl has parsed already, and what follows as it is sent: to parse each URL
        /// takes 10,000 instructions.
        private func setTarget(_ target: TargetURL, isProxied: Bool, on easy: atom_curl_easy) -> Bool {
            // Not where libcurl may ask a proxy for the whole URL (RFC 9112 §3.2.2).
            guard !isProxied || target.scheme == .https else {
                return atom_curl_set_text(easy, CInt(ATOM_CURLOPT_URL), target.absoluteString) == 0
            }
            let server = loop.url(of: target.origin)
            self.server = server
            atom_curl_set_parsed_url(easy, server.parsed)
            // Also as text, which libcurl reads when it repeats a request.
            guard atom_curl_set_text(easy, CInt(ATOM_CURLOPT_URL), server.text) == 0 else { return false }
            return target.absoluteString.withCString { text in
                guard let path = strchr(text + target.scheme.rawValue.utf8.count + 3, CInt(UInt8(ascii: "/"))) else {
                    return false
                }
                return atom_curl_set_text(easy, CInt(ATOM_CURLOPT_REQUEST_TARGET), path) == 0
            }
        }

        private func setMethod(_ request: TransportRequest, on easy: atom_curl_easy) -> Bool {
            let method = request.method
            if let body = request.body {
                atom_curl_set_body(easy, owner, body.length ?? -1)
                if method == "POST" { return true }
            } else {
                switch method {
                case "GET": return true
                case "HEAD":
                    atom_curl_set_long(easy, CInt(ATOM_CURLOPT_NOBODY), 1)
                    return true
                case "POST", "PUT", "PATCH":
                    // These say that they have no body (RFC 9110 §8.6).
                    atom_curl_set_body(easy, owner, 0)
                    if method == "POST" { return true }
                default: break
                }
            }
            return atom_curl_set_text(easy, CInt(ATOM_CURLOPT_CUSTOMREQUEST), method) == 0
        }

        /// Returns whether the head is small enough: libcurl before 8.7 never sends a large one whole, over TLS from
        /// 128 KiB on.
        private func setHeader(_ request: TransportRequest, isProxied: Bool, on easy: atom_curl_easy) -> Bool {
            let fields = request.headerFields
            // libcurl may name the host of another request over the same connection, or only a part of this one.
            let isCut = settings.library.cutsLastDot && request.target.host.utf8.last == UInt8(ascii: ".")
            let host =
                (isCut || isProxied && request.target.scheme == .http) && !fields.contains("Host")
                ? request.target.origin.hostAndPort : nil
            let own = settings.ownFields
            var size = 64 + (host?.utf8.count ?? 0)
            for field in own { size += field.name.utf8.count + field.value.utf8.count }
            for field in fields { size += field.name.utf8.count + field.value.utf8.count }
            headSize = size + request.target.absoluteString.utf8.count + 4 * fields.count
            guard headSize <= 125 << 10 else { return false }
            lines.begin(size: size, lines: fields.count + own.count + 3)
            if let host { lines.add("Host", host) }
            for field in own where !fields.contains(field.name) { lines.add(field.name, field.value) }
            for field in fields { lines.add(field.name, field.value) }
            if request.method != "GET" {
                // libcurl would call every body a form.
                if !fields.contains("Content-Type") { lines.leaveOut("Content-Type") }
                // It adds the field for large bodies, so that a 401 comes before them.
                let mayExpect = settings.library.repeatsUnexpected && !request.needsFreshConnection
                if !mayExpect, !fields.contains("Expect") { lines.leaveOut("Expect") }
                // libcurl waits for a second; the idle time ends it otherwise.
                let patience = min(request.idleTimeout, .seconds(2)) / .milliseconds(2)
                let timeout = settings.expectationTimeout ?? Int(patience)  // 32 bits: at most 1,000
                atom_curl_set_long(easy, CInt(ATOM_CURLOPT_EXPECT_100_TIMEOUT_MS), timeout)
            }
            atom_curl_set_list(easy, CInt(ATOM_CURLOPT_HTTPHEADER), lines.list)
            return true
        }

        // Never freed and never changed, so every thread may read it.
        nonisolated(unsafe) static let callbacks: UnsafePointer<atom_curl_callbacks> = {
            let callbacks = UnsafeMutablePointer<atom_curl_callbacks>.allocate(capacity: 1)
            callbacks.initialize(
                to: atom_curl_callbacks(
                    header: { bytes, size, count, context in
                        let length = size * count  // 32 bits: of a buffer in memory
                        return UnsafeRawBufferPointer(start: bytes, count: length).withMemoryRebound(to: UInt8.self) {
                            CurlTransfer.of(context).tookHeader($0) ? length : 0
                        }
                    },
                    write: { bytes, size, count, context in
                        let length = size * count  // 32 bits: of a buffer in memory
                        return CurlTransfer.of(context).receive(.init(start: bytes, count: length))
                    },
                    read: { bytes, size, count, context in
                        let length = size * count  // 32 bits: of a buffer in memory
                        return CurlTransfer.of(context).fill(.init(start: bytes, count: length))
                    },
                    prepare: { context, _, _, _, port in
                        CurlTransfer.of(context).maySend(from: UInt16(truncatingIfNeeded: port)) ? 0 : 1
                    },
                    progress: { context, length, received, _, sent in
                        CurlTransfer.of(context).progressed(sent: sent, received: received, of: length) ? 0 : 1
                    },
                    connect: { CurlTransfer.of($0).mayConnect() },
                    opened: { context, descriptor, address, port in
                        CurlTransfer.of(context).opened(descriptor, to: String(cString: address), port: Int(port))
                    },
                    began: { CurlTransfer.of($0).stream = $1 },
                    leaves: { CurlTransfer.of($0).serverLeaves(after: $1) }))
            return UnsafePointer(callbacks)
        }()
    }

    /// The URL of a server; a transfer keeps it while a handle reads it.
    final class ServerURL {
        let text: String
        /// The same for libcurl; `nil` if it doesn't accept it.
        let parsed: atom_curl_url?

        init(_ origin: Origin) {
            text = origin.string + "/"
            parsed = atom_curl_url_make(text)
        }

        deinit {
            if let parsed { atom_curl_url_free(parsed) }
        }
    }
#endif
