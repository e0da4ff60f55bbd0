extension TargetURL {
    /// The URL as cookies see it.
    var cookieAddress: CookieAddress {
        CookieAddress(host: host, path: path, isSecure: scheme == .https)
    }
}
