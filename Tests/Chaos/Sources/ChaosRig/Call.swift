import AtomNetworking

/// An endpoint of the server's.
struct Call: Requestable {
    let base: BaseURL
    let place: String
    let method: HTTPMethod
    let requiresAuthorization: Bool
    let body: RequestBody?
    let name: RequestName?
    let file: String?
    let sharesIdenticalRequests: Bool

    init(
        base: BaseURL, path: String, method: HTTPMethod = .get, isSigned: Bool = true, body: RequestBody? = nil,
        name: RequestName? = nil, file: String? = nil, shares: Bool = false
    ) {
        self.base = base
        place = path
        self.method = method
        requiresAuthorization = isSigned
        self.body = body
        self.name = name
        self.file = file
        sharesIdenticalRequests = shares
    }

    func baseURL() -> BaseURL { base }
    func path() throws(AtomError) -> URLPath { try URLPath(place) }
    var headerItems: [HeaderItem]? { name.map { [HeaderItem(name: "X-Request", value: $0.description)] } }
    var queryItems: [QueryItem]? { file.map { [QueryItem(name: "name", value: $0)] } }
}
