// swift-tools-version: 6.2

// Signs in to authorization servers of other projects. Tests/SignIn/run starts them.

import PackageDescription

let package = Package(
    name: "SignIn",
    platforms: [.macOS(.v13)],
    dependencies: [
        .package(name: "AtomNetworking", path: "../..")
    ],
    targets: [
        .executableTarget(
            name: "signin-flows",
            dependencies: [
                .product(name: "AtomNetworking", package: "AtomNetworking"),
                .product(name: "AtomNetworkingSignIn", package: "AtomNetworking"),
            ])
    ],
    swiftLanguageModes: [.v6]
)
