import AtomNetworking
import Foundation

struct Flight: Model {
    let number: String
    let destination: String
}

struct Member: Model {
    let name: String
    let miles: Int
}

enum Airline: Requestable {
    case flights(from: String)
    case signIn(user: String, password: String)
    case account

    func baseURL() throws(AtomError) -> BaseURL {
        try BaseURL(scheme: .http, host: "127.0.0.1", port: 8080)
    }

    func path() -> URLPath {
        switch self {
        case .flights: .literal("/flights")
        case .signIn: .literal("/oauth/token")
        case .account: .literal("/account")
        }
    }

    var queryItems: [QueryItem]? {
        switch self {
        case .flights(let airport): ["from": airport]
        default: nil
        }
    }

    var method: HTTPMethod {
        switch self {
        case .signIn: .post
        default: .get
        }
    }

    var body: RequestBody? {
        switch self {
        case .signIn(let user, let password):
            .form(["grant_type": "password", "client_id": "atom-app", "username": user, "password": password])
        default: nil
        }
    }

    var requiresAuthorization: Bool {
        switch self {
        case .account: true
        default: false
        }
    }
}

let folder = FileManager.default.urls(for: .applicationSupportDirectory, in: .userDomainMask)[0]
let store = FileTokenCredentialStore(fileURL: folder.appending(path: "com.example.airline/tokens.json"))
let tokenEndpoint = try AuthorizationEndpoint(scheme: .http, host: "127.0.0.1", port: 8080, path: "/oauth/token")
let bearer = BearerAuthentication(endpoint: tokenEndpoint, client: ClientCredential(id: "atom-app"), store: store)
let atom = Atom(serviceConfiguration: ServiceConfiguration(authenticationMethod: .bearer(bearer)))

let arguments = Array(CommandLine.arguments.dropFirst())
do {
    switch arguments.first {
    case "flights":
        let flights = try await atom.enqueue(Airline.flights(from: "SEA")).resume(expecting: [Flight].self)
        for flight in flights {
            print(flight.number, "to", flight.destination)
        }
    case "login":
        let user = arguments.count > 1 ? arguments[1] : "ada"
        print("Password of \(user):")
        let signIn = Airline.signIn(user: user, password: readLine() ?? "")
        let credential = try await atom.enqueue(signIn).resume(expecting: TokenCredential.self)
        try await atom.signIn(with: credential)
        print("Signed in.")
    case "whoami":
        let member = try await atom.enqueue(Airline.account).resume(expecting: Member.self)
        print(member.name, "has", member.miles, "miles")
    default:
        print("Usage: airline flights | login | whoami")
    }
} catch {
    switch error {
    case .authentication(.missingCredential), .authentication(.refreshRejected), .authentication(.refreshInterrupted):
        print("Please sign in first: airline login")
    case .response where (try? error.decodeIfPresent(as: OAuthError.self))?.code == "invalid_grant":
        print("The user name or the password is wrong.")
    default:
        print(error.description)
    }
    exit(1)
}
