#if os(Linux)
    internal import CAtomCurl
    import Foundation

    extension CurlTransfer {
        /// Sets the options of a request on a new handle.
        ///
        /// - Returns: What libcurl refuses, if it does.
        func set(_ request: TransportRequest, parsedURL: ParsedURL?, on easy: atom_curl_easy) -> WireProblem? {
            // Also as text, which libcurl reads when it repeats a request.
            guard atom_curl_set_text(easy, CInt(ATOM_CURLOPT_URL), request.target.absoluteString) == 0 else {
                return .badURL
            }
            if let parsedURL { atom_curl_set_parsed_url(easy, parsedURL.handle) }
            guard setMethod(request, on: easy) else { return .badURL }
            let proxy: CurlTransport.ProxyServer?
            do {
                proxy = try settings.proxy(for: request.target)
            } catch {
                return .proxy(error.reason)
            }
            if let problem = settings.set(proxy, on: easy) { return problem }
            hasSecureProxy = proxy?.isSecure == true
            setHeader(request, isProxied: proxy != nil, on: easy)
            if let body = request.body, body.isStream { reader = BodyReadAhead(body) }
            if request.needsFreshConnection {
                guard settings.set(ATOM_CURLOPT_FRESH_CONNECT, 1, on: easy),
                    settings.set(ATOM_CURLOPT_FORBID_REUSE, 1, on: easy)
                else { return .other(.unknown, "libcurl doesn't accept that a connection is new") }
            }
            // libcurl's own limit is five minutes. A limit costs a timer, and the
            // SDK ends most exchanges earlier.
            if request.idleTimeout > .seconds(240) {
                set(ATOM_CURLOPT_CONNECTTIMEOUT_MS, Int(CInt.max), on: easy)
            }
            return nil
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
                    set(ATOM_CURLOPT_NOBODY, 1, on: easy)
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

        private func setHeader(_ request: TransportRequest, isProxied: Bool, on easy: atom_curl_easy) {
            let fields = request.headerFields
            // libcurl may name the host of another request over the same connection.
            let host =
                isProxied && request.target.scheme == .http && !fields.contains("Host")
                ? request.target.origin.hostAndPort : nil
            var size = 64 + (host?.utf8.count ?? 0)
            for field in fields { size += field.name.utf8.count + field.value.utf8.count }
            lines.begin(size: size, lines: fields.count + settings.ownLines.count + 3)
            if let host { lines.add("Host", host) }
            for line in settings.ownLines where !fields.contains(line.name) { lines.add(line) }
            for field in fields { lines.add(field.name, field.value) }
            if request.method != "GET" {
                // libcurl would call every body a form.
                if !fields.contains("Content-Type") { lines.leaveOut("Content-Type") }
                // It adds the field for a body over a megabyte, or of unknown
                // length, over HTTP/1.1: a 401 then comes before the body.
                let mayExpect = settings.repeatsUnexpected && !request.needsFreshConnection
                if !mayExpect, !fields.contains("Expect") { lines.leaveOut("Expect") }
                if let timeout = settings.expectationTimeout {
                    set(ATOM_CURLOPT_EXPECT_100_TIMEOUT_MS, timeout, on: easy)
                }
            }
            atom_curl_set_list(easy, CInt(ATOM_CURLOPT_HTTPHEADER), lines.list)
        }

        private func set(_ option: Int, _ value: Int, on easy: atom_curl_easy) {
            atom_curl_set_long(easy, CInt(option), value)
        }
    }

    /// A URL that libcurl has parsed.
    ///
    /// A handle reads it when its exchange begins, and the transfer keeps it that
    /// long.
    final class ParsedURL {
        let handle: atom_curl_url

        /// `nil` if libcurl doesn't accept the URL.
        init?(_ text: String) {
            guard let handle = atom_curl_url_make(text) else { return nil }
            self.handle = handle
        }

        deinit { atom_curl_url_free(handle) }
    }
#endif
