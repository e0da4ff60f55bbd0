import Foundation

@testable import AtomNetworking

/// An endpoint with only a path.
struct PathEndpoint: Requestable {
    var pathText = "/x"
    var requiresAuthorization = true
    var timeout: ServiceTimeout?
    var headerItems: [HeaderItem]?

    func baseURL() throws(AtomError) -> BaseURL { try BaseURL(host: "api.example.com") }
    func path() throws(AtomError) -> URLPath { try URLPath(pathText) }
}

extension PreparedRequest {
    /// With default timeouts that have not been validated.
    init(_ requestable: any Requestable, timeout: ServiceTimeout) throws(AtomError) {
        try self.init(
            RequestDescription(of: requestable), of: nil,
            timeouts: Result { () throws(AtomError) in try timeout.checked() }, encoder: JSONEncoder(), common: nil)
    }
}
