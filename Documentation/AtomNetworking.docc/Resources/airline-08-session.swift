import AtomNetworking
import AtomNetworkingSignIn
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

    var requiresAuthorization: Bool { false }
}

let server = try AuthorizationServer(
    issuer: "http://127.0.0.1:8080", authorizationEndpoint: "http://127.0.0.1:8080/oauth/authorize",
    tokenEndpoint: "http://127.0.0.1:8080/oauth/token")
let client = OAuthClient(server: server, id: "atom-app", scopes: ["openid", "profile"])

let folder = FileManager.default.urls(for: .applicationSupportDirectory, in: .userDomainMask)[0]
let store = FileTokenCredentialStore(fileURL: folder.appending(path: "com.example.airline/tokens.json"))
let bearer = client.authentication(store: store)
let atom = Atom(serviceConfiguration: ServiceConfiguration(authenticationMethod: .bearer(bearer)))

let flights = try await atom.enqueue(Airline.flights(from: "SEA")).resume(expecting: [Flight].self)
for flight in flights {
    print(flight.number, "to", flight.destination)
}
