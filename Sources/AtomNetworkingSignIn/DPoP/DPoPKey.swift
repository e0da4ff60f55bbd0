import Foundation

/// A key on the curve P-256 that proves who uses a token (RFC 9449 §4), with ES256 (RFC 7518 §3.4).
///
/// On Apple platforms `SecureEnclaveKey` is one that can't leave the device. For Linux there is one of swift-crypto in
/// <doc:SigningIn#Bind-tokens-to-a-key>.
public protocol DPoPKey: Sendable {
    /// The point of the public key without compression: 0x04 and the two coordinates, 65 bytes (SEC 1 §2.3.3).
    var publicKey: Data { get }

    /// Signs a message: the two numbers of the signature, 32 bytes each, over its SHA-256 (RFC 7518 §3.4).
    ///
    /// Called on any thread while a request holds its place, so it must not wait for a person.
    func signature(for message: Data) throws -> Data
}
