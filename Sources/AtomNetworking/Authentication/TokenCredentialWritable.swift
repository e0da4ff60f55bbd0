/// Where an app keeps a session's tokens.
///
/// The getter is read each time a signed request asks to be sent: on the
/// caller's thread in `resume`, on one of the SDK's before a retry. It is read
/// again when the refresh token was refused, and around every write. The setter
/// is called once after every successful refresh, and by
/// ``Atom/signIn(with:)`` and ``Atom/signOut()``, on a thread of the SDK's; once
/// more if something else was written at the same moment, with what counts.
/// Both have to be thread-safe, and quick. What the setter was given, the
/// getter returns from then on. What the app itself puts there is the session
/// from the next request on.
/// <doc:Authentication> has a class that does all this.
///
/// Everything that uses the same object shares one session: at most one
/// refresh runs for it at a time.
public protocol TokenCredentialWritable: AnyObject, Sendable {
    /// The tokens; two empty ones when nobody is signed in.
    var tokenCredential: TokenCredential { get set }
}
