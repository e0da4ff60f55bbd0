import AtomNetworking
import Foundation

/// A request of a suite; every status is a result.
struct Endpoint: Requestable {
    let base: BaseURL
    var target: URLPath
    var method = HTTPMethod.get
    var headerItems: [HeaderItem]?
    var queryItems: [QueryItem]?
    var body: RequestBody?
    var timeout: ServiceTimeout?
    var acceptableStatusCodes = 100...999

    /// An endpoint for an absolute URL.
    init(url: String) throws {
        let slash = url.dropFirst("https://".count).firstIndex(of: "/") ?? url.endIndex
        let parts = url[slash...].split(separator: "?", maxSplits: 1)
        base = try BaseURL(string: String(url[..<slash]))
        target = try URLPath(parts.first.map(String.init) ?? "/")
        if parts.count == 2 { queryItems = [QueryItem(name: String(parts[1]), value: "")] }
    }

    func baseURL() throws(AtomError) -> BaseURL { base }
    func path() throws(AtomError) -> URLPath { target }
}
