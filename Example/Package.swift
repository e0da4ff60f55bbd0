// swift-tools-version: 6.2

import PackageDescription

let package = Package(
    name: "Example",
    platforms: [.macOS(.v13), .iOS(.v16)],
    products: [
        .executable(name: "atom", targets: ["atom"]),
        // For examples that need a server.
        .library(name: "AirlineServer", targets: ["AirlineServer"]),
    ],
    dependencies: [
        .package(name: "AtomNetworking", path: ".."),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.5.0"),
        // For keys on the curve P-256, and for SHA-256.
        .package(url: "https://github.com/apple/swift-crypto", from: "3.12.0"),
    ],
    targets: [
        .executableTarget(name: "atom", dependencies: ["AtomCommands"]),
        .target(
            name: "AtomCommands",
            dependencies: [
                "AirlineServer",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "AtomNetworking", package: "AtomNetworking"),
                .product(name: "AtomNetworkingExports", package: "AtomNetworking"),
                .product(name: "AtomNetworkingSignIn", package: "AtomNetworking"),
                .product(name: "Crypto", package: "swift-crypto"),
                // An app needs it in its tests only. The tool answers from recordings.
                .product(name: "AtomNetworkingTesting", package: "AtomNetworking"),
            ]
        ),
        .target(
            name: "AirlineServer",
            dependencies: [
                // With the server that it is made of.
                .product(name: "AtomNetworkingTesting", package: "AtomNetworking"),
                .product(name: "Crypto", package: "swift-crypto"),
            ]
        ),
        // The tool is a dependency because its tests start it as separate processes.
        .testTarget(
            name: "AtomCommandsTests",
            dependencies: [
                "AtomCommands", "atom",
                .product(name: "AtomNetworking", package: "AtomNetworking"),
                .product(name: "AtomNetworkingExports", package: "AtomNetworking"),
                .product(name: "AtomNetworkingSignIn", package: "AtomNetworking"),
                .product(name: "AtomNetworkingTesting", package: "AtomNetworking"),
                .product(name: "Crypto", package: "swift-crypto"),
            ]
        ),
        .testTarget(
            name: "AirlineServerTests",
            dependencies: [
                "AirlineServer",
                .product(name: "AtomNetworking", package: "AtomNetworking"),
                .product(name: "Crypto", package: "swift-crypto"),
            ]
        ),
    ],
    swiftLanguageModes: [.v6]
)
