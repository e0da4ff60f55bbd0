import AirlineServer
import AtomNetworking

/// Flights, seats and bookings, without authentication.
enum FlightEndpoint: Requestable {
    case list(Airline)
    case seats(Airline, flight: String)
    case book(Airline, BookingOrder)
    case booking(Airline, reference: String)

    var method: HTTPMethod {
        if case .book = self { .post } else { .get }
    }

    var body: RequestBody? {
        if case .book(_, let order) = self { .json(order) } else { nil }
    }

    var requiresAuthorization: Bool { false }

    func baseURL() throws(AtomError) -> BaseURL {
        switch self {
        case .list(let airline), .seats(let airline, _), .book(let airline, _), .booking(let airline, _): airline.base
        }
    }

    func path() throws(AtomError) -> URLPath {
        switch self {
        case .list: try URLPath("/flights")
        case .seats(_, let flight): try URLPath("/flights/\(flight)/seats")
        case .book: try URLPath("/bookings")
        case .booking(_, let reference): try URLPath("/bookings/\(reference)")
        }
    }
}

/// Endpoints that need a user name and password, or an access token.
enum AccountEndpoint: Requestable {
    /// With Basic authentication.
    case member(Airline)
    /// With an access token.
    case account(Airline)
    /// With an access token; the first page of the mileage account.
    case activity(Airline)
    /// With an access token; the response is small and numbered, with a chosen delay.
    case miles(Airline, number: Int, milliseconds: Int)
    /// With an access token; announcements as server-sent events, with the time
    /// between two of them, and how many a connection has.
    case gates(Airline, milliseconds: Int, each: Int)
    /// With an access token that may spend miles.
    case upgrade(Airline, flight: String)

    var method: HTTPMethod {
        if case .upgrade = self { .post } else { .get }
    }

    var body: RequestBody? {
        if case .upgrade(_, let flight) = self { .json(["flight": flight]) } else { nil }
    }

    var queryItems: [QueryItem]? {
        switch self {
        case .miles(_, let number, let milliseconds):
            ["number": String(number), "milliseconds": String(milliseconds)]
        case .gates(_, let milliseconds, let each): ["milliseconds": String(milliseconds), "each": String(each)]
        case .member, .account, .activity, .upgrade: nil
        }
    }

    func baseURL() throws(AtomError) -> BaseURL {
        switch self {
        case .member(let airline), .account(let airline), .activity(let airline), .miles(let airline, _, _),
            .gates(let airline, _, _), .upgrade(let airline, _):
            airline.base
        }
    }

    func path() throws(AtomError) -> URLPath {
        switch self {
        case .member: try URLPath("/me")
        case .account: try URLPath("/account")
        case .activity: try URLPath("/account/activity")
        case .miles: try URLPath("/account/miles")
        case .gates: try URLPath("/account/gates")
        case .upgrade: try URLPath("/account/upgrades")
        }
    }
}

/// Files that are sent and received, without authentication.
enum TransferEndpoint: Requestable {
    case upload(Airline, RequestBody)
    case file(Airline, size: Int)

    var method: HTTPMethod {
        if case .upload = self { .post } else { .get }
    }

    var body: RequestBody? {
        if case .upload(_, let body) = self { body } else { nil }
    }

    var requiresAuthorization: Bool { false }

    func baseURL() throws(AtomError) -> BaseURL {
        switch self {
        case .upload(let airline, _), .file(let airline, _): airline.base
        }
    }

    func path() throws(AtomError) -> URLPath {
        switch self {
        case .upload: try URLPath("/uploads")
        case .file(_, let size): try URLPath("/downloads/\(size)")
        }
    }
}

/// Exchanges a password for tokens: a sign-in is a request like any other.
struct SignInEndpoint: Requestable {
    let airline: Airline
    var user = NameAndSecret.exampleUser
    var client = ClientCredential.example

    var method: HTTPMethod { .post }

    var requiresAuthorization: Bool { false }

    var body: RequestBody? {
        .form([
            "grant_type": "password", "username": user.name, "password": user.secret, "client_id": client.id,
            "client_secret": client.secret,
        ])
    }

    func baseURL() -> BaseURL { airline.base }

    func path() throws(AtomError) -> URLPath { try URLPath(AirlineServer.tokenPath) }
}

/// Responses that are slow, busy or wrong.
enum DiagnosticEndpoint: Requestable {
    case slow(Airline, milliseconds: Int, timeout: ServiceTimeout? = nil, shares: Bool = false)
    case malformed(Airline)
    case hangUp(Airline)
    /// Busy so often, and then no more.
    case busy(Airline, name: String, times: Int)

    var queryItems: [QueryItem]? {
        switch self {
        case .slow(_, let milliseconds, _, _): ["milliseconds": String(milliseconds)]
        case .busy(_, _, let times): ["times": String(times)]
        case .malformed, .hangUp: nil
        }
    }

    var timeout: ServiceTimeout? {
        if case .slow(_, _, let timeout, _) = self { timeout } else { nil }
    }

    var sharesIdenticalRequests: Bool {
        if case .slow(_, _, _, let shares) = self { shares } else { false }
    }

    var retryPolicy: RetryPolicy? {
        if case .busy = self { .standard } else { nil }
    }

    func baseURL() throws(AtomError) -> BaseURL {
        switch self {
        case .slow(let airline, _, _, _), .malformed(let airline), .hangUp(let airline), .busy(let airline, _, _):
            airline.base
        }
    }

    func path() throws(AtomError) -> URLPath {
        switch self {
        case .slow: try URLPath("/slow")
        case .malformed: try URLPath("/errors/malformed")
        case .hangUp: try URLPath("/errors/hang-up")
        case .busy(_, let name, _): try URLPath("/busy/\(name)")
        }
    }
}
