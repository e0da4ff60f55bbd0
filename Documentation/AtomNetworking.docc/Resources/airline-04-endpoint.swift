import AtomNetworking
import Foundation

struct Flight: Model {
    let number: String
    let destination: String
}

enum Airline: Requestable {
    case flights(from: String)

    func baseURL() throws(AtomError) -> BaseURL {
        try BaseURL(scheme: .http, host: "127.0.0.1", port: 8080)
    }

    func path() -> URLPath {
        switch self {
        case .flights: .literal("/flights")
        }
    }

    var queryItems: [QueryItem]? {
        switch self {
        case .flights(let airport): ["from": airport]
        }
    }
}
