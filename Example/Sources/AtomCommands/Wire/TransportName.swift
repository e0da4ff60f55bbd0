import AtomNetworking

/// The name of a transport for people, with the version of libcurl.
enum TransportName {
    static func of(_ transport: any Transport) -> String {
        #if os(Linux)
            if transport is CurlTransport { return "libcurl \(CurlTransport.libraryVersion ?? "")" }
        #endif
        return transport is URLSessionTransport ? "URLSession" : String(describing: type(of: transport))
    }
}
