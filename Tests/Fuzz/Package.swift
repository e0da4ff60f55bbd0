// swift-tools-version: 6.2

// Feeds the SDK's parsers with inputs that libFuzzer makes up; `Tests/Fuzz/run` builds it and runs all targets.

import PackageDescription

let package = Package(
    name: "Fuzz",
    platforms: [.macOS(.v13)],
    dependencies: [.package(name: "AtomNetworking", path: "../..")],
    targets: [
        .executableTarget(
            name: "Fuzz",
            dependencies: [
                .product(name: "AtomNetworking", package: "AtomNetworking"),
                .product(name: "AtomNetworkingExports", package: "AtomNetworking"),
                .product(name: "AtomNetworkingTesting", package: "AtomNetworking"),
            ])
    ],
    swiftLanguageModes: [.v6]
)
