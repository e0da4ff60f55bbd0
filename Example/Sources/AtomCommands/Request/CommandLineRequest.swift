import AtomNetworking

extension URLEndpoint {
    /// The request that a command line describes.
    ///
    /// The common methods may be typed in lower case; names are case-sensitive (RFC 9110 §9.1). A header field that was
    /// given several times is a list.
    init(
        _ url: String, methodName: String, headers: [HeaderItem] = [], query: [QueryItem] = [],
        body: RequestBody? = nil, accepting statuses: ClosedRange<Int> = 200...299
    ) throws(AtomError) {
        let upper = methodName.uppercased()
        let isUsual = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"].contains(upper)
        let fields = HeaderFields(headers)
        try self.init(
            url, method: .token(isUsual ? upper : methodName), queryItems: query,
            headerItems: fields.map { field in
                let separator = field.name.lowercased() == "cookie" ? "; " : ", "
                return HeaderItem(name: field.name, value: fields.values(for: field.name).joined(separator: separator))
            },
            body: body)
        acceptableStatusCodes = statuses
    }
}
