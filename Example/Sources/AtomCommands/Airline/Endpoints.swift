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
    /// With an access token; the body of a 401 for an invalid one never ends.
    case endlessRefusal(Airline)
    /// With an access token; the response is small and numbered, with a chosen
    /// delay.
    case miles(Airline, number: Int, milliseconds: Int)
    /// With an access token; announcements as server-sent events, with the time
    /// between two of them.
    case gates(Airline, milliseconds: Int)

    var headerItems: [HeaderItem]? {
        if case .miles(_, let number, _) = self { ["X-Request-ID": String(number)] } else { nil }
    }

    var queryItems: [QueryItem]? {
        switch self {
        case .miles(_, let number, let milliseconds):
            ["number": String(number), "milliseconds": String(milliseconds)]
        case .gates(_, let milliseconds): ["milliseconds": String(milliseconds), "retry": String(milliseconds)]
        case .member, .account, .activity, .endlessRefusal: nil
        }
    }

    func baseURL() throws(AtomError) -> BaseURL {
        switch self {
        case .member(let airline), .account(let airline), .activity(let airline), .endlessRefusal(let airline),
            .miles(let airline, _, _), .gates(let airline, _):
            airline.base
        }
    }

    func path() throws(AtomError) -> URLPath {
        switch self {
        case .member: try URLPath("/me")
        case .account: try URLPath("/account")
        case .activity: try URLPath("/account/activity")
        case .endlessRefusal: try URLPath("/account/endless-refusal")
        case .miles: try URLPath("/account/miles")
        case .gates: try URLPath("/account/gates")
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

/// The authorization server, as normal requests: a sign-in works like this.
enum SignInEndpoint: Requestable {
    case password(Airline, user: NameAndSecret, client: NameAndSecret)
    /// Ends a session with its refresh token (RFC 7009), as a client without a
    /// secret.
    case revocation(Airline, token: String, clientID: String)

    var method: HTTPMethod { .post }

    var requiresAuthorization: Bool { false }

    var body: RequestBody? {
        switch self {
        case .password(_, let user, let client):
            .form(
                [
                    "grant_type": "password", "username": user.name, "password": user.secret,
                    "client_id": client.name,
                ] + (client.secret.isEmpty ? [] : [QueryItem(name: "client_secret", value: client.secret)]))
        case .revocation(_, let token, let clientID):
            .form(["token": token, "token_type_hint": "refresh_token", "client_id": clientID])
        }
    }

    func baseURL() throws(AtomError) -> BaseURL {
        switch self {
        case .password(let airline, _, _), .revocation(let airline, _, _): airline.base
        }
    }

    func path() throws(AtomError) -> URLPath {
        switch self {
        case .password: try URLPath(AirlineServer.tokenPath)
        case .revocation: try URLPath(AirlineServer.revocationPath)
        }
    }
}

/// Responses that are slow, wrong or redirected.
enum DiagnosticEndpoint: Requestable {
    case slow(Airline, milliseconds: Int, timeout: ServiceTimeout? = nil, shares: Bool = false)
    case redirect(Airline, times: Int)
    case repeatedElsewhere(Airline, text: String)
    case malformed(Airline)
    case hangUp(Airline)
    /// Busy so often, and then no more.
    case busy(Airline, name: String, times: Int, policy: RetryPolicy? = nil)

    var method: HTTPMethod {
        if case .repeatedElsewhere = self { .post } else { .get }
    }

    var body: RequestBody? {
        if case .repeatedElsewhere(_, let text) = self { .json(["text": text]) } else { nil }
    }

    var queryItems: [QueryItem]? {
        switch self {
        case .slow(_, let milliseconds, _, _): ["milliseconds": String(milliseconds)]
        case .repeatedElsewhere: ["status": "307", "to": "/echo/moved"]
        case .busy(_, _, let times, _): ["times": String(times)]
        case .redirect, .malformed, .hangUp: nil
        }
    }

    var timeout: ServiceTimeout? {
        if case .slow(_, _, let timeout, _) = self { timeout } else { nil }
    }

    var sharesIdenticalRequests: Bool {
        if case .slow(_, _, _, let shares) = self { shares } else { false }
    }

    var retryPolicy: RetryPolicy? {
        if case .busy(_, _, _, let policy) = self { policy } else { nil }
    }

    func baseURL() throws(AtomError) -> BaseURL {
        switch self {
        case .busy(let airline, _, _, _), .slow(let airline, _, _, _), .redirect(let airline, _),
            .repeatedElsewhere(let airline, _),
            .malformed(let airline), .hangUp(let airline):
            airline.base
        }
    }

    func path() throws(AtomError) -> URLPath {
        switch self {
        case .slow: try URLPath("/slow")
        case .redirect(_, let times): try URLPath("/redirect/\(times)")
        case .repeatedElsewhere: try URLPath("/redirect")
        case .malformed: try URLPath("/errors/malformed")
        case .hangUp: try URLPath("/errors/hang-up")
        case .busy(_, let name, _, _): try URLPath("/busy/\(name)")
        }
    }
}

/// A path of any server.
struct PlainEndpoint: Requestable {
    let base: BaseURL
    /// The path.
    let text: String

    func baseURL() throws(AtomError) -> BaseURL { base }

    func path() throws(AtomError) -> URLPath { try URLPath(text) }
}

/// The server's switches and counters.
enum AdminEndpoint: Requestable {
    case counters(Airline)
    case policy(Airline)
    case setTokenLifetime(Airline, seconds: Double)
    case revokeAccessTokens(Airline)

    var method: HTTPMethod {
        switch self {
        case .counters, .policy: .get
        case .setTokenLifetime, .revokeAccessTokens: .post
        }
    }

    var body: RequestBody? {
        if case .setTokenLifetime(_, let seconds) = self { .json(["accessTokenLifetime": seconds]) } else { nil }
    }

    var requiresAuthorization: Bool { false }

    func baseURL() throws(AtomError) -> BaseURL {
        switch self {
        case .counters(let airline), .policy(let airline), .setTokenLifetime(let airline, _),
            .revokeAccessTokens(let airline):
            airline.base
        }
    }

    func path() throws(AtomError) -> URLPath {
        switch self {
        case .counters: try URLPath("/admin/counters")
        case .policy, .setTokenLifetime: try URLPath("/admin/policy")
        case .revokeAccessTokens: try URLPath("/admin/revoke-access-tokens")
        }
    }
}
