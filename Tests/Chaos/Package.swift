// swift-tools-version: 6.2

// Minutes of everything that can go wrong at once, with an account of every request at
// the client and at the server. Tests/Chaos/run runs it.

import PackageDescription

let package = Package(
    name: "Chaos",
    platforms: [.iOS(.v16), .macOS(.v13), .tvOS(.v16), .watchOS(.v9), .visionOS(.v1)],
    products: [
        // For transports whose packages take long to build; each of them has its own
        // program.
        .library(name: "ChaosRig", targets: ["ChaosRig"])
    ],
    dependencies: [
        .package(name: "AtomNetworking", path: "../..")
    ],
    targets: [
        .target(
            name: "ChaosRig",
            dependencies: [
                .product(name: "AtomNetworking", package: "AtomNetworking"),
                .product(name: "AtomNetworkingTesting", package: "AtomNetworking"),
            ]),
        .executableTarget(name: "chaos", dependencies: ["ChaosRig"]),
    ],
    swiftLanguageModes: [.v6]
)
