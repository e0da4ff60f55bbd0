/// How a service signs its requests.
#if hasAttribute(nonexhaustive)
    @nonexhaustive
#endif
public enum AuthenticationMethod: Sendable {
    /// A user name and password in every request (RFC 7617).
    case basic(BasicCredential)

    /// Nothing is signed.
    case none
}
