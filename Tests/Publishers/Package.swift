// swift-tools-version: 6.0

// Runs the publisher tests where there is no Combine. The target named
// `Combine` stands in for Apple's module, so that `canImport(Combine)` is true
// for the SDK's own sources, which the symbolic link in `Sources` brings in.
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
        .target(name: "AtomNetworking", dependencies: ["Combine"]),
        .testTarget(name: "PublisherTests", dependencies: ["AtomNetworking", "Combine"]),
    ],
    swiftLanguageModes: [.v6]
)
