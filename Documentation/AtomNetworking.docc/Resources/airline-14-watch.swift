import AtomNetworking
import AtomNetworkingSignIn
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
    case account

    func baseURL() throws(AtomError) -> BaseURL {
        try BaseURL(scheme: .http, host: "127.0.0.1", port: 8080)
    }

    func path() -> URLPath {
        switch self {
        case .flights: .literal("/flights")
        case .account: .literal("/account")
        }
    }

    var queryItems: [QueryItem]? {
        switch self {
        case .flights(let airport): ["from": airport]
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

let server = try AuthorizationServer(
    issuer: "http://127.0.0.1:8080", authorizationEndpoint: "http://127.0.0.1:8080/oauth/authorize",
    tokenEndpoint: "http://127.0.0.1:8080/oauth/token")
let client = OAuthClient(server: server, id: "atom-app", scopes: ["openid", "profile"])

let folder = FileManager.default.urls(for: .applicationSupportDirectory, in: .userDomainMask)[0]
let store = FileTokenCredentialStore(fileURL: folder.appending(path: "com.example.airline/tokens.json"))
let bearer = client.authentication(store: store)
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
        try await SignIn(client, browser: LoopbackBrowser(), store: store).signIn(to: atom)
        print("Signed in.")
    case "whoami":
        let member = try await atom.enqueue(Airline.account).resume(expecting: Member.self)
        print(member.name, "has", member.miles, "miles")
    case "watch":
        let events = atom.events
        let listening = Task {
            for await event in events {
                switch event {
                case .refreshed: print("-- refreshed")
                case .credentialChanged: print("-- another process has refreshed")
                default: break
                }
            }
        }
        for number in 1...12 {
            let member = try await atom.enqueue(Airline.account).resume(expecting: Member.self)
            print(number, member.name)
            try? await Task.sleep(for: .seconds(1))
        }
        listening.cancel()
    default:
        print("Usage: airline flights | login | whoami | watch")
    }
} catch {
    switch error {
    case .authentication(.missingCredential), .authentication(.refreshRejected), .authentication(.refreshInterrupted):
        print("Please sign in first: airline login")
    default:
        print(error.signInError?.description ?? error.description)
    }
    exit(1)
}
