extension TargetURL {
    /// The URL as cookies see it.
    var cookieAddress: CookieAddress {
        let path = pathAndQuery.prefix { $0 != "?" }
        return CookieAddress(host: host, path: path.isEmpty ? "/" : String(path), isSecure: scheme == .https)
    }
}
