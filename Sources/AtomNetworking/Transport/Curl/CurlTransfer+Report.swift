#if os(Linux)
    internal import CAtomCurl
    import Foundation

    extension CurlTransfer {
        /// Whether nothing has been sent of a request that was about to be.
        ///
        /// libcurl counts what it has written whole. Of more than one record of TLS, which
        /// has 16 KiB, the first ones may have been sent without that.
        ///
        /// - Parameter size: How much it may have handed over.
        static func isUnsent(counted: Int?, isSecure: Bool, size: Int64) -> Bool {
            counted == 0 && (!isSecure || size < 15 << 10)
        }

        /// What libcurl has measured, read before the transfer is taken out.
        var metrics: TransportMetrics? {
            guard easy != nil, exchange?.request.wantsMetrics == true else { return nil }
            // Since the start of the exchange, for what it reached.
            func moment(_ info: Int) -> Duration? {
                let microseconds = self.moment(info)
                return microseconds > 0 ? .microseconds(microseconds) : nil
            }
            var metrics = TransportMetrics()
            // Without an address there was no connection at all.
            guard let address else { return metrics }
            let isNew = figure(ATOM_CURLINFO_NUM_CONNECTS) > 0
            metrics.remoteAddress = address
            metrics.remotePort = figure(ATOM_CURLINFO_PRIMARY_PORT)
            metrics.isConnectionReused = !isNew
            metrics.networkProtocol =
                switch figure(ATOM_CURLINFO_HTTP_VERSION) {
                case 1: "http/1.0"
                case 2: "http/1.1"
                case 3, 4, 5: "h2"
                case 30, 31: "h3"
                default: nil
                }
            let lookup = isNew ? moment(ATOM_CURLINFO_NAMELOOKUP_TIME) : nil
            let connected = isNew ? moment(ATOM_CURLINFO_CONNECT_TIME) : nil
            let secured = isNew ? moment(ATOM_CURLINFO_APPCONNECT_TIME) : nil
            let start = moment(ATOM_CURLINFO_PRETRANSFER_TIME)
            let own = untilResponse.map { (start ?? .zero) + $0 }
            let began = measuresResponse ? own : moment(ATOM_CURLINFO_STARTTRANSFER_TIME)
            // Some versions have a moment also when the connection ends without a response.
            metrics.measure(
                domainLookup: (.zero, lookup), connect: (lookup ?? .zero, connected),
                secureConnection: (secured == nil ? nil : connected, secured),
                requestStart: start,
                response: (head.statusCode > 0 ? began : nil, moment(ATOM_CURLINFO_TOTAL_TIME)))
            return metrics
        }

        private var address: String? {
            let text = easy.flatMap { atom_curl_get_text($0, CInt(ATOM_CURLINFO_PRIMARY_IP)) }
            return text.map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 }
        }

        /// What the server's certificate says, if it was looked at.
        var certificate: String? {
            var lines: [String: String] = [:]
            var next = easy.flatMap { atom_curl_get_certificate($0) }
            while let line = next {
                let parts = String(cString: line.pointee.data).split(separator: ":", maxSplits: 1).map(String.init)
                if parts.count == 2 { lines[parts[0]] = Redaction.clipped(parts[1], limit: 200) }
                next = UnsafePointer(line.pointee.next)
            }
            guard let subject = lines["Subject"] else { return nil }
            var text = "its certificate is that of “\(subject)”"
            if let names = lines["X509v3 Subject Alternative Name"] { text += " for \(names)" }
            if let issuer = lines["Issuer"] { text += ", issued by “\(issuer)”" }
            if let start = lines["Start date"], let end = lines["Expire date"] {
                text += ", valid from \(start) to \(end)"
            }
            return text
        }

        // MARK: Where an error has happened

        private var chosenProxy: CurlTransport.ProxyServer? {
            exchange.flatMap { try? settings.proxy(for: $0.request.target) }
        }

        /// The proxy that the exchange went over.
        ///
        /// libcurl alone knows the exceptions; the server's port may be one of theirs.
        var proxyInUse: CurlTransport.ProxyServer? {
            guard let target = exchange?.request.target, let proxy = chosenProxy else { return nil }
            let port = peer.port > 0 ? peer.port : figure(ATOM_CURLINFO_PRIMARY_PORT)
            return proxy.exceptions.isEmpty || port > 0 && port != target.port ? proxy : nil
        }

        /// Whether the name that was not found is the proxy's.
        func isOfProxy(_ error: CurlError) -> Bool {
            guard let target = exchange?.request.target, chosenProxy != nil else { return false }
            return !error.message.contains(target.host)
        }

        /// What somebody who looks for the cause wants to know: the host, the proxy,
        /// what its name resolved to, and what the system says.
        func place(
            of problem: WireProblem, _ error: CurlError, over proxy: CurlTransport.ProxyServer?
        ) -> String? {
            guard let target = exchange?.request.target else { return nil }
            let way = proxy.map { "over the proxy \($0.url)" } ?? ""
            var parts: [String]
            switch problem {
            case .unknownHost: return target.host
            case .unknownProxy: return chosenProxy?.url
            case .proxy: parts = [chosenProxy?.url ?? ""]
            case .refused, .offline, .lost, .closedWithoutResponse, .closedAtOnce, .lostAtOnce, .timedOut, .notHTTP:
                parts = ["\(target.host):\(target.port)", way]
            default: return way.isEmpty ? nil : way
            }
            let address = address ?? peer.address
            if !parts.contains(where: { $0.contains(address) }) { parts.append(address) }
            if error.systemError > 0 { parts.append(String(cString: strerror(CInt(error.systemError)))) }
            return parts.filter { !$0.isEmpty }.joined(separator: ", ")
        }
    }
#endif
