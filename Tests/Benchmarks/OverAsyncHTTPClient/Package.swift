// swift-tools-version: 6.2

// The SDK, the SDK over AsyncHTTPClient, and AsyncHTTPClient alone. It is a separate
// package, because its dependencies take minutes to build;
// Tests/Benchmarks/report runs it.

import PackageDescription

let package = Package(
    name: "OverAsyncHTTPClient",
    platforms: [.iOS(.v16), .macOS(.v13), .tvOS(.v16), .watchOS(.v9), .visionOS(.v1)],
    dependencies: [
        .package(name: "Benchmarks", path: ".."),
        .package(name: "AsyncHTTPClientTransport", path: "../../../Example/AsyncHTTPClientTransport"),
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.100.0"),
    ],
    targets: [
        .executableTarget(
            name: "requests-over-async-http-client",
            dependencies: [
                .product(name: "Workload", package: "Benchmarks"),
                .product(name: "AsyncHTTPClientTransport", package: "AsyncHTTPClientTransport"),
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "NIOFoundationCompat", package: "swift-nio"),
            ])
    ],
    swiftLanguageModes: [.v6]
)
