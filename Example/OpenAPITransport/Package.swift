// swift-tools-version: 6.2

// A transport for clients that Swift OpenAPI Generator has made.

import PackageDescription

let package = Package(
    name: "OpenAPITransport",
    platforms: [.iOS(.v16), .macOS(.v13), .tvOS(.v16), .watchOS(.v9), .visionOS(.v1)],
    products: [
        .library(name: "OpenAPITransport", targets: ["OpenAPITransport"])
    ],
    dependencies: [
        .package(name: "AtomNetworking", path: "../.."),
        // Only for the tests: the airline server.
        .package(name: "Example", path: ".."),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        // Only for the tests: it generates their client during the build.
        .package(url: "https://github.com/apple/swift-openapi-generator", from: "1.13.0"),
        .package(url: "https://github.com/apple/swift-openapi-runtime", from: "1.11.0"),
    ],
    targets: [
        .target(
            name: "OpenAPITransport",
            dependencies: [
                .product(name: "AtomNetworking", package: "AtomNetworking"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "OpenAPIRuntime", package: "swift-openapi-runtime"),
            ]
        ),
        // A generated client for a part of the airline server.
        .target(
            name: "AirlineAPI",
            dependencies: [
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "OpenAPIRuntime", package: "swift-openapi-runtime"),
            ],
            plugins: [.plugin(name: "OpenAPIGenerator", package: "swift-openapi-generator")]
        ),
        .testTarget(
            name: "OpenAPITransportTests",
            dependencies: [
                "AirlineAPI", "OpenAPITransport",
                .product(name: "AirlineServer", package: "Example"),
                .product(name: "AtomNetworking", package: "AtomNetworking"),
                .product(name: "AtomNetworkingTesting", package: "AtomNetworking"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "OpenAPIRuntime", package: "swift-openapi-runtime"),
            ]
        ),
    ],
    swiftLanguageModes: [.v6]
)
