/// Where the body of an acceptable response goes, instead of into memory.
protocol ResponseDestination: AnyObject, Sendable {
    /// The SDK's own header fields for an attempt, in place of the app's with these names.
    ///
    /// They are no secrets, so an attempt at another origin has them too. Asked for directly before an attempt is sent,
    /// with what signs it; the last time counts.
    func fields(for attempt: Attempt, by asker: Asker) -> [HeaderItem]

    /// With which of the service's cookies it was asked for before; `nil` for any.
    var cookies: CookieOrigin? { get }

    /// Whether a response with this status goes there; the body of any other one is collected in memory.
    ///
    /// - Parameter isAcceptable: Whether the endpoint accepts the status.
    func takes(_ statusCode: Int, isAcceptable: Bool) -> Bool

    /// Whether the response that could not go there is asked for again: with other header fields, another one comes.
    var asksAgain: Bool { get }

    /// Whose response it is has signed out.
    ///
    /// - Returns: Whether the response ends with that, because its head, or one before it, has arrived; else the
    ///   exchange alone knows what to do.
    func revoke() -> Bool

    /// Opens the sink for a response.
    ///
    /// It is called outside every lock, before the first part of the body.
    ///
    /// - Parameters:
    ///   - head: The response without its body.
    ///   - attempt: Its attempt, whose body can be held back.
    /// - Throws: Why the body can't go there. The exchange fails with it.
    func sink(for head: AtomResponse, of attempt: AttemptOnWire) throws(AtomError) -> any ResponseSink
}

/// With which of the service's cookies a request began that no session signs.
struct CookieOrigin: Sendable {
    let era: Int
    /// Whether there were any: then whoever asks is gone with their era; otherwise it goes on, without any.
    let hadCookies: Bool
}

/// Who asks for a response: what signs an attempt besides its own header fields.
struct Asker: Sendable {
    /// For a token of the session.
    var signer: SessionSigner?
    /// For Basic authentication.
    var authorization: String?
    /// The service's cookies.
    var cookie: String?
}
