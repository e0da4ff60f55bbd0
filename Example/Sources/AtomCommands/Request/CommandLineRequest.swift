import AtomNetworking

/// The request that a command line describes.
struct CommandLineRequest: Requestable {
    let url: RequestURL
    let methodName: String
    var headers: [HeaderItem] = []
    var query: [QueryItem] = []
    var body: RequestBody?
    var timeout: ServiceTimeout?

    /// Names are case-sensitive (RFC 9110 §9.1); the common ones may be typed
    /// in lower case.
    var method: HTTPMethod {
        let upper = methodName.uppercased()
        let isUsual = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"].contains(upper)
        return .token(isUsual ? upper : methodName)
    }

    var headerItems: [HeaderItem]? { headers }

    var queryItems: [QueryItem]? { url.queryItems + query }

    /// After redirects, the remaining 3xx statuses are not errors: a 304 for a
    /// conditional request, or a redirect that isn't followed.
    var acceptableStatusCodes = 200...399

    func baseURL() throws(AtomError) -> BaseURL {
        try BaseURL(scheme: url.scheme, host: url.host, port: url.port)
    }

    func path() throws(AtomError) -> URLPath {
        try URLPath(url.path)
    }
}
