/// Proves with each request that a token is used by the client that it was issued to (DPoP, RFC 9449).
///
/// `AtomNetworkingSignIn` has `DPoP`. A ``BearerAuthentication`` takes one as its ``BearerAuthentication/proof``.
///
/// ``RequestSigner/sign(_:)`` is called before the app's signers, for each attempt that the session signs with a token
/// of the type `DPoP`, and for each request to the token endpoint. A request to the token endpoint has no access token
/// in its `Authorization` field.
public protocol TokenProof: RequestSigner {
    /// The thumbprint of the key (RFC 7638); a stored credential that was issued for another key isn't used.
    var keyThumbprint: String { get }

    /// Hears of each response to a request that was signed with this proof, on any thread, and must not wait.
    ///
    /// - Parameter response: The response; that of another server than the token endpoint comes without its body.
    /// - Returns: Whether the server wants another proof, with the nonce that it has just sent. The request is then sent
    ///   once more, and the token doesn't count as rejected.
    func received(_ response: AtomResponse) -> Bool
}
