/// What an ``AirlineServer`` starts with.
public struct ServerConfiguration: Sendable {
    /// The port to listen on; 0 takes a free one.
    public var port: UInt16 = 0

    /// The applications that may ask for tokens.
    public var clients: [OAuthClient] = [.confidentialExample, .publicExample]

    /// Passwords by user name, for `/me` and for the password grant.
    public var users: [String: String] = ["ada": "lovelace", "grace": "hopper"]

    /// Everything a client may ask for; granted in full when it asks for nothing.
    public var scopes: [String] = ["bookings", "flights", "profile"]

    /// How tokens live and die.
    public var policy = TokenPolicy()

    /// How many events the log keeps before it forgets the oldest.
    public var eventCapacity = 50_000

    /// The largest request body that is read; a larger one is answered with 413.
    public var bodyLimit = 4_194_304

    /// A configuration with every value at its default.
    public init() {}
}
