#if os(Linux)
    internal import CAtomCurl

    extension CurlTransfer {
        /// What libcurl has measured, if somebody wants to know; read before the
        /// transfer is taken out.
        var metrics: TransportMetrics? {
            guard let easy, exchange?.request.wantsMetrics == true else { return nil }
            func figure(_ info: Int) -> Int { atom_curl_get_long(easy, CInt(info)) }
            func moment(_ info: Int) -> Int64? {
                let microseconds = atom_curl_get_offset(easy, CInt(info))
                return microseconds > 0 ? microseconds : nil
            }
            var metrics = TransportMetrics()
            let connections = figure(ATOM_CURLINFO_NUM_CONNECTS)
            let address = atom_curl_get_text(easy, CInt(ATOM_CURLINFO_PRIMARY_IP)).map { String(cString: $0) } ?? ""
            // Without an address there was no connection at all.
            guard !address.isEmpty else { return metrics }
            metrics.remoteAddress = address
            metrics.remotePort = figure(ATOM_CURLINFO_PRIMARY_PORT)
            metrics.isConnectionReused = connections == 0
            metrics.networkProtocol = CurlTimes.protocolName(figure(ATOM_CURLINFO_HTTP_VERSION))
            CurlTimes(
                domainLookup: moment(ATOM_CURLINFO_NAMELOOKUP_TIME), connect: moment(ATOM_CURLINFO_CONNECT_TIME),
                secureConnection: moment(ATOM_CURLINFO_APPCONNECT_TIME),
                preparation: moment(ATOM_CURLINFO_PRETRANSFER_TIME),
                firstByte: moment(ATOM_CURLINFO_STARTTRANSFER_TIME), end: moment(ATOM_CURLINFO_TOTAL_TIME)
            ).add(to: &metrics, isConnectionNew: connections > 0)
            return metrics
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
    }

    /// The times of a transfer in microseconds since its start; `nil` for what it
    /// did not reach.
    struct CurlTimes {
        var domainLookup: Int64?
        var connect: Int64?
        var secureConnection: Int64?
        var preparation: Int64?
        var firstByte: Int64?
        var end: Int64?

        /// The protocol of libcurl's number, by its ALPN identifier.
        static func protocolName(_ number: Int) -> String? {
            switch number {
            case 1: "http/1.0"
            case 2: "http/1.1"
            case 3, 4, 5: "h2"
            case 30, 31: "h3"
            default: nil
            }
        }

        func add(to metrics: inout TransportMetrics, isConnectionNew: Bool) {
            func span(_ from: Int64?, _ to: Int64?) -> Duration? {
                guard let from, let to else { return nil }
                return .microseconds(max(to - from, 0))
            }
            if isConnectionNew {
                metrics.domainLookup = domainLookup.map { .microseconds($0) }
                metrics.connect = span(domainLookup ?? 0, connect)
                metrics.secureConnection = span(connect, secureConnection)
            }
            metrics.waiting = span(preparation, firstByte)
            metrics.receiving = firstByte == nil ? nil : span(firstByte, end)
        }
    }
#endif
