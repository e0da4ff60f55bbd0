// swift-tools-version: 6.2

// Logs, metrics and traces of an app's requests, with swift-log, swift-metrics
// and swift-distributed-tracing, by OpenTelemetry's names.

import PackageDescription

let package = Package(
    name: "Observability",
    platforms: [.macOS(.v13), .iOS(.v16)],
    products: [
        .library(name: "Observability", targets: ["Observability"]),
        .executable(name: "observe", targets: ["observe"]),
    ],
    dependencies: [
        .package(name: "AtomNetworking", path: "../.."),
        // Only for the demonstration: the airline server.
        .package(name: "Example", path: ".."),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.7.3"),
    ],
    targets: [
        .target(
            name: "Observability",
            dependencies: [
                .product(name: "AtomNetworking", package: "AtomNetworking"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "Metrics", package: "swift-metrics"),
                .product(name: "Tracing", package: "swift-distributed-tracing"),
            ]
        ),
        // A tracer that keeps its spans, for the demonstration and the tests.
        .target(
            name: "InMemoryBackends",
            dependencies: [
                .product(name: "Tracing", package: "swift-distributed-tracing"),
                .product(name: "InMemoryTracing", package: "swift-distributed-tracing"),
            ]
        ),
        .executableTarget(
            name: "observe",
            dependencies: [
                "Observability", "InMemoryBackends",
                .product(name: "AirlineServer", package: "Example"),
                .product(name: "AtomNetworking", package: "AtomNetworking"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "Metrics", package: "swift-metrics"),
                .product(name: "MetricsTestKit", package: "swift-metrics"),
                .product(name: "Tracing", package: "swift-distributed-tracing"),
            ]
        ),
        .testTarget(
            name: "ObservabilityTests",
            dependencies: [
                "Observability", "InMemoryBackends",
                .product(name: "AtomNetworking", package: "AtomNetworking"),
                .product(name: "AtomNetworkingTesting", package: "AtomNetworking"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "InMemoryLogging", package: "swift-log"),
                .product(name: "MetricsTestKit", package: "swift-metrics"),
                .product(name: "InMemoryTracing", package: "swift-distributed-tracing"),
                .product(name: "Tracing", package: "swift-distributed-tracing"),
            ]
        ),
    ],
    swiftLanguageModes: [.v6]
)
