// What the SDK uses of CryptoKit; see AppleFoundation.swift.
//
// Parameters that have a default and aren't given are left out.

import Foundation
import Security

@available(macOS 10.15, iOS 13, tvOS 13, watchOS 6, *)
public struct SHA256Digest: Sequence {
    public func makeIterator() -> [UInt8].Iterator { [].makeIterator() }
}

@available(macOS 10.15, iOS 13, tvOS 13, watchOS 6, *)
public struct SHA256 {
    public static func hash<D: DataProtocol>(data: D) -> SHA256Digest { SHA256Digest() }
}

@available(macOS 10.15, iOS 13, tvOS 13, watchOS 6, *)
public enum P256 {
    public enum Signing {
        public struct ECDSASignature {
            public var rawRepresentation: Data { fatalError() }
        }

        public struct PublicKey {
            public var x963Representation: Data { fatalError() }
        }
    }
}

@available(macOS 10.15, iOS 13, tvOS 13, watchOS 6, *)
public enum SecureEnclave {
    public static var isAvailable: Bool { fatalError() }

    public enum P256 {
        public enum Signing {
            /// Not `Sendable`: the strictest form.
            public struct PrivateKey {
                private let handle: AnyObject?

                public init(accessControl: SecAccessControl) throws { fatalError() }
                public init(dataRepresentation: Data) throws { fatalError() }
                public var dataRepresentation: Data { fatalError() }
                public var publicKey: CryptoKit.P256.Signing.PublicKey { fatalError() }
                public func signature<D: DataProtocol>(
                    for data: D
                ) throws -> CryptoKit.P256.Signing.ECDSASignature { fatalError() }
            }
        }
    }
}
