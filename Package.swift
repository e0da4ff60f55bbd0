// swift-tools-version: 6.0

import PackageDescription

let package = Package(
    name: "AtomNetworking",
    platforms: [.iOS(.v16), .macOS(.v13), .tvOS(.v16), .watchOS(.v9), .visionOS(.v1)],
    products: [
        .library(name: "AtomNetworking", targets: ["AtomNetworking"])
    ],
    dependencies: [],
    targets: [
        .target(name: "AtomNetworking"),
        .target(name: "LoopbackServer", path: "Tests/LoopbackServer"),
        .testTarget(name: "AtomNetworkingTests", dependencies: ["AtomNetworking", "LoopbackServer"]),
    ],
    swiftLanguageModes: [.v6]
)
