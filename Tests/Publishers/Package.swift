// swift-tools-version: 6.2

// Runs code for Apple platforms on other systems. The targets `Combine`, `os`
// and `Security` replace Apple's modules, so that `canImport` is true for the
// SDK's own sources, which are symbolic links in `Sources`. In this way the
// SDK's manifest needs no dependency.

import PackageDescription

let package = Package(
    name: "Publishers",
    platforms: [.iOS(.v16), .macOS(.v13), .tvOS(.v16), .watchOS(.v9), .visionOS(.v1)],
    dependencies: [
        .package(url: "https://github.com/OpenCombine/OpenCombine", exact: "0.14.0")
    ],
    targets: [
        .target(name: "Combine", dependencies: [.product(name: "OpenCombine", package: "OpenCombine")]),
        .target(name: "os"),
        .target(name: "Security"),
        .target(name: "CAtomCurl", linkerSettings: [.linkedLibrary("dl", .when(platforms: [.linux]))]),
        .target(
            name: "AtomNetworking", dependencies: ["CAtomCurl", "Combine", "os", "Security"],
            exclude: ["PrivacyInfo.xcprivacy"]),
        .testTarget(name: "PublisherTests", dependencies: ["AtomNetworking", "Combine", "os", "Security"]),
    ],
    swiftLanguageModes: [.v6]
)
