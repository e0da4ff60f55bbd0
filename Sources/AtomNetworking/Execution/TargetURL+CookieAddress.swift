extension TargetURL {
    /// The URL as cookies see it.
    var cookieAddress: CookieAddress {
        let bytes = absoluteString.utf8
        let authority = bytes.dropFirst(scheme.rawValue.utf8.count + 3)
        let path = authority.drop { $0 != UInt8(ascii: "/") }.prefix { $0 != UInt8(ascii: "?") }
        return CookieAddress(
            host: host, path: path.isEmpty ? "/" : String(decoding: path, as: UTF8.self), isSecure: scheme == .https)
    }
}
