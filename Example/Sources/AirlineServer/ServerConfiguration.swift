/// The initial configuration of an ``AirlineServer``.
public struct ServerConfiguration: Sendable {
    /// The port to listen on; 0 chooses a free one.
    public var port: UInt16 = 0

    /// The clients that may request tokens.
    public var clients: [OAuthClient] = [.confidentialExample, .publicExample]

    /// Passwords by user name, for `/me` and for the password grant.
    public var users: [String: String] = ["ada": "lovelace", "grace": "hopper"]

    /// All scopes that a client may request; all are granted if it requests
    /// none.
    public var scopes: [String] = ["bookings", "flights", "profile"]

    /// The lifetimes and the rotation of tokens.
    public var policy = TokenPolicy()

    /// The maximum number of stored events; the oldest are removed first.
    public var eventCapacity = 50_000

    /// The largest request body that is read; a larger one gets a 413.
    public var bodyLimit = 4_194_304

    /// A configuration with default values.
    public init() {}
}
