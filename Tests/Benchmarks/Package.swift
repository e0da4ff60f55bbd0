// swift-tools-version: 6.0

// Measures the SDK: swift run -c release --package-path Tests/Benchmarks waiters

import PackageDescription

let package = Package(
    name: "Benchmarks",
    platforms: [.iOS(.v16), .macOS(.v13), .tvOS(.v16), .watchOS(.v9), .visionOS(.v1)],
    dependencies: [
        .package(name: "AtomNetworking", path: "../..")
    ],
    targets: [
        .target(name: "Allocator"),
        .executableTarget(
            name: "waiters",
            dependencies: ["Allocator", .product(name: "AtomNetworking", package: "AtomNetworking")]),
    ],
    swiftLanguageModes: [.v6]
)
