import AtomNetworking

/// The request that a command line describes.
struct CommandLineRequest: Requestable {
    let url: RequestURL
    let methodName: String
    var headers: [HeaderItem] = []
    var query: [QueryItem] = []
    var body: RequestBody?
    var timeout: ServiceTimeout?

    /// Names are case-sensitive (RFC 9110 §9.1); the usual ones may be typed in small letters.
    var method: HTTPMethod {
        let upper = methodName.uppercased()
        let isUsual = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"].contains(upper)
        return .token(isUsual ? upper : methodName)
    }

    var headerItems: [HeaderItem]? { headers }

    var queryItems: [QueryItem]? { url.queryItems + query }

    /// What is left of 3xx after redirects is an answer, not an error: a 304
    /// to a conditional request, or a redirect that is not to be followed.
    var acceptableStatusCodes: ClosedRange<Int> { 200...399 }

    func baseURL() throws(AtomError) -> BaseURL {
        try BaseURL(scheme: url.scheme, host: url.host, port: url.port)
    }

    func path() throws(AtomError) -> URLPath {
        try URLPath(url.path)
    }
}
