// swift-tools-version: 6.2

// Measures the SDK. Tests/Benchmarks/report runs everything; a single program
// runs with
// swift run -c release --package-path Tests/Benchmarks waiters

import PackageDescription

let package = Package(
    name: "Benchmarks",
    platforms: [.iOS(.v16), .macOS(.v13), .tvOS(.v16), .watchOS(.v9), .visionOS(.v1)],
    products: [
        // For clients whose packages take long to build; each of them has its
        // own program.
        .library(name: "Workload", targets: ["Workload"])
    ],
    dependencies: [
        .package(name: "AtomNetworking", path: "../..")
    ],
    targets: [
        .target(name: "Allocator"),
        .target(name: "Counting"),
        .target(name: "Workload", dependencies: [.product(name: "AtomNetworking", package: "AtomNetworking")]),
        .executableTarget(
            name: "server", dependencies: [.product(name: "AtomNetworkingTesting", package: "AtomNetworking")]),
        .executableTarget(
            name: "requests",
            dependencies: ["Workload", .product(name: "AtomNetworking", package: "AtomNetworking")]),
        // The same requests by a C program straight over libcurl.
        .executableTarget(name: "libcurl-requests", linkerSettings: [.linkedLibrary("dl", .when(platforms: [.linux]))]),
        .executableTarget(name: "decode", dependencies: ["Workload"]),
        .target(name: "OwnShare", dependencies: [.product(name: "AtomNetworking", package: "AtomNetworking")]),
        .executableTarget(name: "share", dependencies: ["OwnShare"]),
        .executableTarget(name: "share-counted", dependencies: ["Counting", "OwnShare"]),
        // Bodies of any size, up and down.
        .executableTarget(
            name: "transfers",
            dependencies: [
                .product(name: "AtomNetworking", package: "AtomNetworking"),
                .product(name: "AtomNetworkingTesting", package: "AtomNetworking"),
            ]),
        .executableTarget(
            name: "waiters",
            dependencies: ["Allocator", .product(name: "AtomNetworking", package: "AtomNetworking")]),
    ],
    swiftLanguageModes: [.v6]
)
