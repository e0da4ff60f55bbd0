import AtomNetworking
import Foundation

/// Binds tokens to a key, so that a stolen token is of no use (RFC 9449).
///
/// One object a key: it knows the nonces that servers have sent.
public final class DPoP: TokenProof {
    public let keyThumbprint: String

    /// Creates proofs with a key.
    ///
    /// - Throws: `AtomError.requestable` if the public key isn't a point of 65 bytes.
    public init(key: any DPoPKey, timeSource: (any TimeSource)? = nil) throws(AtomError) {
        fatalError("to be written")
    }

    public var tokenType: String { "DPoP" }

    public func sign(_ request: inout SignableRequest) throws {
        fatalError("to be written")
    }

    public func received(_ response: AtomResponse) -> Bool {
        fatalError("to be written")
    }
}
