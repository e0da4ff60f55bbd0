// swift-tools-version: 6.0

// Runs what only Apple's systems have where there is no such system. The
// targets named `Combine`, `os` and `Security` stand in for Apple's modules, so
// that `canImport` is true for the SDK's own sources, which the symbolic link
// in `Sources` brings in.
// The SDK's manifest stays without a dependency.

import PackageDescription

let package = Package(
    name: "Publishers",
    platforms: [.iOS(.v16), .macOS(.v13), .tvOS(.v16), .watchOS(.v9), .visionOS(.v1)],
    dependencies: [
        .package(url: "https://github.com/OpenCombine/OpenCombine", exact: "0.14.0")
    ],
    targets: [
        .target(name: "Combine", dependencies: [.product(name: "OpenCombine", package: "OpenCombine")]),
        .target(name: "os"),
        .target(name: "Security"),
        .target(name: "AtomNetworking", dependencies: ["Combine", "os", "Security"]),
        .testTarget(name: "PublisherTests", dependencies: ["AtomNetworking", "Combine", "os", "Security"]),
    ],
    swiftLanguageModes: [.v6]
)
