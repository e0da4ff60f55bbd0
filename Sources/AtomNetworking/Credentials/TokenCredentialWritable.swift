/// An app's own variable for a session's tokens.
///
/// The getter is called often, on any thread: each time a request of the service is about to be sent, signed or not, in
/// `resume` on the caller's thread; before each element of a signed stream; when a response sets cookies; around every
/// write; and whenever the state of the session is read. The setter is called once after every successful refresh, and by ``Atom/signIn(with:)`` and
/// ``Atom/signOut()``, on a thread of the SDK; once more, with the current tokens, if another value was written at the
/// same moment. Both must be thread-safe and fast, and the getter must return what was set. Tokens that the app itself
/// sets become the session with the next request. <doc:Authentication> has a class that does all this.
///
/// All services that use the same object share one session.
public protocol TokenCredentialWritable: AnyObject, Sendable {
    /// The tokens; two empty ones when no user is signed in.
    var tokenCredential: TokenCredential { get set }
}
