// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "airline",
    platforms: [.macOS(.v13)],
    dependencies: [
        .package(name: "AtomNetworking", path: "../AtomNetworking")
    ],
    targets: [
        .executableTarget(
            name: "airline",
            dependencies: [
                .product(name: "AtomNetworking", package: "AtomNetworking"),
                .product(name: "AtomNetworkingSignIn", package: "AtomNetworking"),
            ])
    ]
)
