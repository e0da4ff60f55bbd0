import AtomNetworking
import Foundation

/// The requests that the app sends.
///
/// An app would name its host in `baseURL()`. Here the port of the server varies, so the endpoints contain the address.
enum AccountEndpoint: Requestable {
    /// The first page of the mileage account; a page contains the link to the next.
    case activity(BaseURL)
    /// A document, for the airline.
    case document(BaseURL, URL)
    /// An upgrade on a flight, for miles.
    case upgrade(BaseURL, flight: String)

    func baseURL() -> BaseURL {
        switch self {
        case .activity(let base), .document(let base, _), .upgrade(let base, _): base
        }
    }

    func path() -> URLPath {
        switch self {
        case .activity: .literal("/account/activity")
        case .document: .literal("/uploads")
        case .upgrade: .literal("/account/upgrades")
        }
    }

    var method: HTTPMethod {
        switch self {
        case .activity: .get
        case .document, .upgrade: .post
        }
    }

    var body: RequestBody? {
        switch self {
        case .activity: nil
        case .document(_, let file): .file(file, contentType: "application/octet-stream")
        case .upgrade(_, let flight): .json(["flight": flight])
        }
    }
}
