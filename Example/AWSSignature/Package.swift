// swift-tools-version: 6.2

// Signs requests to AWS's services, and to other servers that ask for its
// Signature Version 4, with hashes from swift-crypto.

import PackageDescription

let package = Package(
    name: "AWSSignature",
    platforms: [.iOS(.v16), .macOS(.v13), .tvOS(.v16), .watchOS(.v9), .visionOS(.v1)],
    products: [
        .library(name: "AWSSignature", targets: ["AWSSignature"])
    ],
    dependencies: [
        .package(name: "AtomNetworking", path: "../.."),
        .package(url: "https://github.com/apple/swift-crypto", from: "3.12.0"),
    ],
    targets: [
        .target(
            name: "AWSSignature",
            dependencies: [
                .product(name: "AtomNetworking", package: "AtomNetworking"),
                .product(name: "Crypto", package: "swift-crypto"),
            ]
        ),
        .testTarget(
            name: "AWSSignatureTests",
            dependencies: [
                "AWSSignature",
                .product(name: "AtomNetworking", package: "AtomNetworking"),
                .product(name: "AtomNetworkingTesting", package: "AtomNetworking"),
            ]
        ),
    ],
    swiftLanguageModes: [.v6]
)
