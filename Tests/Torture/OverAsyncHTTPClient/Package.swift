// swift-tools-version: 6.2

// The same over AsyncHTTPClient. It is a separate package, because its dependencies
// take minutes to build; Tests/Torture/run runs it.

import PackageDescription

let package = Package(
    name: "OverAsyncHTTPClient",
    platforms: [.iOS(.v16), .macOS(.v13), .tvOS(.v16), .watchOS(.v9), .visionOS(.v1)],
    dependencies: [
        .package(name: "Torture", path: ".."),
        .package(name: "AsyncHTTPClientTransport", path: "../../../Example/AsyncHTTPClientTransport"),
    ],
    targets: [
        .executableTarget(
            name: "torture-over-async-http-client",
            dependencies: [
                .product(name: "Misbehaviour", package: "Torture"),
                .product(name: "AsyncHTTPClientTransport", package: "AsyncHTTPClientTransport"),
            ])
    ],
    swiftLanguageModes: [.v6]
)
