/// Where the body of an acceptable response goes, instead of into memory.
protocol ResponseDestination: AnyObject, Sendable {
    /// An attempt is about to be sent with this pass and the service's cookies; the last time counts.
    ///
    /// - Returns: The SDK's own header fields for it, in place of the app's with these names: no secrets, as an attempt at
    ///   another origin has them too. `nil` if the pass is out of date.
    func willSend(_ attempt: Attempt, by pass: Pass, cookie: String?) -> [HeaderItem]?

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
