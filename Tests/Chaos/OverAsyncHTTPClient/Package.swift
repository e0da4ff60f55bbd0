// swift-tools-version: 6.2

// The same over AsyncHTTPClient. It is a separate package, because its dependencies
// take minutes to build; Tests/Chaos/run runs it.

import PackageDescription

let package = Package(
    name: "OverAsyncHTTPClient",
    platforms: [.iOS(.v16), .macOS(.v13), .tvOS(.v16), .watchOS(.v9), .visionOS(.v1)],
    dependencies: [
        .package(name: "Chaos", path: ".."),
        .package(name: "AsyncHTTPClientTransport", path: "../../../Example/AsyncHTTPClientTransport"),
    ],
    targets: [
        .executableTarget(
            name: "chaos-over-async-http-client",
            dependencies: [
                .product(name: "ChaosRig", package: "Chaos"),
                .product(name: "AsyncHTTPClientTransport", package: "AsyncHTTPClientTransport"),
            ])
    ],
    swiftLanguageModes: [.v6]
)
