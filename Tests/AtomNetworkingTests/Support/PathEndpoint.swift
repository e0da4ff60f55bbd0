import AtomNetworking

/// An endpoint with only a path.
struct PathEndpoint: Requestable {
    var pathText = "/x"
    var requiresAuthorization = true
    var timeout: ServiceTimeout?
    var headerItems: [HeaderItem]?

    func baseURL() throws(AtomError) -> BaseURL { try BaseURL(host: "api.example.com") }
    func path() throws(AtomError) -> URLPath { try URLPath(pathText) }
}
