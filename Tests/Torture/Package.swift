// swift-tools-version: 6.2

// A server that misbehaves in every way that HTTP/1.1 allows and forbids, and what the
// SDK makes of it. Tests/Torture/run runs everything.

import PackageDescription

let package = Package(
    name: "Torture",
    platforms: [.iOS(.v16), .macOS(.v13), .tvOS(.v16), .watchOS(.v9), .visionOS(.v1)],
    products: [
        // For transports whose packages take long to build; each of them has its own
        // program.
        .library(name: "Misbehaviour", targets: ["Misbehaviour"])
    ],
    dependencies: [
        .package(name: "AtomNetworking", path: "../..")
    ],
    targets: [
        .target(
            name: "Misbehaviour",
            dependencies: [
                .product(name: "AtomNetworking", package: "AtomNetworking"),
                .product(name: "AtomNetworkingTesting", package: "AtomNetworking"),
            ]),
        .executableTarget(name: "torture", dependencies: ["Misbehaviour"]),
    ],
    swiftLanguageModes: [.v6]
)
