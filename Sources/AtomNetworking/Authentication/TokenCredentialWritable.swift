/// Where an app keeps a session's tokens.
///
/// The getter is read on the caller's thread at every `resume` of a signed
/// request, the setter once after every refresh, on a thread of the SDK's:
/// both have to be thread-safe, and quick. What the setter was given, the
/// getter returns from then on.
///
/// Everything that uses the same object shares one session: at most one
/// refresh runs for it at a time.
public protocol TokenCredentialWritable: AnyObject, Sendable {
    /// The tokens; two empty ones when nobody is signed in.
    var tokenCredential: TokenCredential { get set }
}
