#if canImport(CryptoKit)
    import AtomNetworking
    import CryptoKit
    import Foundation
    import Security

    /// A key that can't leave the device: its private part is in the Secure Enclave.
    ///
    /// An app creates it once and keeps its ``dataRepresentation`` where it keeps its tokens, which are of no use
    /// without it. It signs from the first unlock of the device on, also while the device is locked again, as a refresh
    /// in the background needs it.
    ///
    /// <!-- not compiled: there is a Secure Enclave on Apple platforms only -->
    /// ```swift
    /// let key = try saved.map { try SecureEnclaveKey(dataRepresentation: $0) } ?? SecureEnclaveKey()
    /// let proof = try DPoP(key: key)
    /// ```
    public struct SecureEnclaveKey: DPoPKey, @unchecked Sendable {
        // A constant, which refers to what is in the Secure Enclave; that signs for any thread.
        private let key: SecureEnclave.P256.Signing.PrivateKey

        /// Whether this device has a Secure Enclave; not every simulator and older Mac has one.
        public static var isAvailable: Bool { SecureEnclave.isAvailable }

        /// Creates another key.
        ///
        /// - Throws: `AtomError.requestable` if there is no Secure Enclave, or what CryptoKit throws.
        public init() throws {
            guard Self.isAvailable,
                let access = SecAccessControlCreateWithFlags(
                    nil, kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly, .privateKeyUsage, nil)
            else { throw JSONWebKey.refusal("this device has no Secure Enclave") }
            key = try SecureEnclave.P256.Signing.PrivateKey(accessControl: access)
        }

        /// Restores a key.
        ///
        /// - Throws: What CryptoKit throws, if the key isn't one of this device.
        public init(dataRepresentation: Data) throws {
            key = try SecureEnclave.P256.Signing.PrivateKey(dataRepresentation: dataRepresentation)
        }

        /// The key in a form that only this device's Secure Enclave can read, for ``init(dataRepresentation:)``.
        public var dataRepresentation: Data { key.dataRepresentation }

        /// The point of the public key, 65 bytes.
        public var publicKey: Data { key.publicKey.x963Representation }

        /// Signs a message with ES256.
        public func signature(for message: Data) throws -> Data {
            try key.signature(for: message).rawRepresentation
        }
    }

    extension SecureEnclaveKey: Redacted {}
#endif
