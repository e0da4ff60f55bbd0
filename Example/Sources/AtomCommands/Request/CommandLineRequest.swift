import AtomNetworking

/// The request that a command line describes.
struct CommandLineRequest: Requestable {
    let url: RequestURL
    let methodName: String
    var headers: [HeaderItem] = []
    var query: [QueryItem] = []
    var body: RequestBody?
    var acceptableStatusCodes = 200...299

    /// Names are case-sensitive (RFC 9110 §9.1); the common ones may be typed in lower case.
    var method: HTTPMethod {
        let upper = methodName.uppercased()
        let isUsual = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"].contains(upper)
        return .token(isUsual ? upper : methodName)
    }

    /// A name that was given several times is a list.
    var headerItems: [HeaderItem]? {
        let fields = HeaderFields(headers)
        return fields.map { field in
            let separator = field.name.lowercased() == "cookie" ? "; " : ", "
            return HeaderItem(name: field.name, value: fields.values(for: field.name).joined(separator: separator))
        }
    }

    var queryItems: [QueryItem]? { url.queryItems + query }

    func baseURL() -> BaseURL { url.base }

    func path() throws(AtomError) -> URLPath { try URLPath(url.path) }
}
