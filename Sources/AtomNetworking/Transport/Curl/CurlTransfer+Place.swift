#if os(Linux)
    internal import CAtomCurl
    import Foundation

    // Where an error has happened.
    extension CurlTransfer {
        /// The proxy that the exchange went over.
        ///
        /// libcurl alone knows the exceptions. An address with the server's port may
        /// belong to one of them.
        var proxyInUse: CurlTransport.ProxyServer? {
            guard let target = exchange?.request.target, let proxy = try? settings.proxy(for: target) else {
                return nil
            }
            let port = peer.port > 0 ? peer.port : figure(ATOM_CURLINFO_PRIMARY_PORT)
            return proxy.exceptions.isEmpty || port > 0 && port != target.port ? proxy : nil
        }

        /// Whether the name that was not found is the proxy's.
        func isOfProxy(_ error: CurlError) -> Bool {
            guard let target = exchange?.request.target, (try? settings.proxy(for: target)) != nil else { return false }
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
            case .unknownProxy: return (try? settings.proxy(for: target))?.url
            case .proxy: parts = [(try? settings.proxy(for: target))?.url ?? ""]
            case .refused, .offline, .lost, .closedWithoutResponse, .closedAtOnce, .timedOut, .notHTTP:
                parts = ["\(target.host):\(target.port)", way]
            default: return way.isEmpty ? nil : way
            }
            let known =
                easy.flatMap { atom_curl_get_text($0, CInt(ATOM_CURLINFO_PRIMARY_IP)) }.map { String(cString: $0) }
                ?? ""
            let address = known.isEmpty ? peer.address : known
            if !parts.contains(where: { $0.contains(address) }) { parts.append(address) }
            if error.systemError > 0 { parts.append(String(cString: strerror(CInt(error.systemError)))) }
            return parts.filter { !$0.isEmpty }.joined(separator: ", ")
        }
    }
#endif
