// swift-tools-version: 6.2

// Runs the test suites of other projects against the SDK. Tests/Conformance/run
// says where they come from.

import PackageDescription

let package = Package(
    name: "Conformance",
    platforms: [.iOS(.v16), .macOS(.v13), .tvOS(.v16), .watchOS(.v9), .visionOS(.v1)],
    dependencies: [
        .package(name: "AtomNetworking", path: "../..")
    ],
    targets: [
        .executableTarget(
            name: "conformance",
            dependencies: [
                .product(name: "AtomNetworking", package: "AtomNetworking"),
                .product(name: "AtomNetworkingTesting", package: "AtomNetworking"),
            ])
    ],
    swiftLanguageModes: [.v6]
)
