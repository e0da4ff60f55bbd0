// swift-tools-version: 6.2

import PackageDescription

let package = Package(
    name: "AtomNetworking",
    platforms: [.iOS(.v16), .macOS(.v13), .tvOS(.v16), .watchOS(.v9), .visionOS(.v1)],
    products: [
        .library(name: "AtomNetworking", targets: ["AtomNetworking"]),
        // Signing in: OAuth in a browser or on another device, discovery, DPoP.
        .library(name: "AtomNetworkingSignIn", targets: ["AtomNetworkingSignIn"]),
        // For debug builds of apps: curl commands and HAR files of what is sent.
        .library(name: "AtomNetworkingExports", targets: ["AtomNetworkingExports"]),
        // For the tests of apps. An app itself must not link it.
        .library(name: "AtomNetworkingTesting", targets: ["AtomNetworkingTesting"]),
    ],
    dependencies: [],
    targets: [
        .target(
            name: "AtomNetworking",
            dependencies: [.target(name: "CAtomCurl", condition: .when(platforms: [.linux]))],
            resources: [.copy("PrivacyInfo.xcprivacy")]),
        // What the SDK uses of libcurl, which is in every process with
        // Foundation on Linux. It needs no header files.
        .target(name: "CAtomCurl", linkerSettings: [.linkedLibrary("dl", .when(platforms: [.linux]))]),
        .target(name: "AtomNetworkingExports", dependencies: ["AtomNetworking"]),
        .target(name: "AtomNetworkingSignIn", dependencies: ["AtomNetworking"]),
        // Reads the files that the exports write, and plays the browser of a sign-in.
        .target(
            name: "AtomNetworkingTesting",
            dependencies: ["AtomNetworking", "AtomNetworkingExports", "AtomNetworkingSignIn"]),
        .testTarget(
            name: "AtomNetworkingTests",
            dependencies: ["AtomNetworking", "AtomNetworkingExports", "AtomNetworkingTesting"]),
        .testTarget(
            name: "AtomNetworkingSignInTests",
            dependencies: ["AtomNetworking", "AtomNetworkingSignIn", "AtomNetworkingTesting"]),
        // As apps use it: public API only.
        .testTarget(
            name: "AtomNetworkingTestingTests",
            dependencies: [
                "AtomNetworking", "AtomNetworkingExports", "AtomNetworkingSignIn", "AtomNetworkingTesting",
            ]),
    ],
    swiftLanguageModes: [.v6]
)
