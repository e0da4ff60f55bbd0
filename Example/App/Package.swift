// swift-tools-version: 6.2

// An app in SwiftUI, set up like a new project of Xcode's: the main actor is the default isolation. The view models
// compile and are tested on Linux too; the views need one of the Apple platforms.

import PackageDescription

let likeXcode: [SwiftSetting] = [
    .defaultIsolation(MainActor.self),
    .enableUpcomingFeature("InferIsolatedConformances"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

let package = Package(
    name: "App",
    platforms: [.macOS(.v14), .iOS(.v17)],
    products: [
        .library(name: "Airline", targets: ["Airline"])
    ],
    dependencies: [
        .package(name: "AtomNetworking", path: "../.."),
        // Only for the demonstration: the airline server.
        .package(name: "Example", path: ".."),
    ],
    targets: [
        .target(
            name: "Airline",
            dependencies: [
                .product(name: "AtomNetworking", package: "AtomNetworking"),
                .product(name: "AtomNetworkingSignIn", package: "AtomNetworking"),
            ],
            swiftSettings: likeXcode
        ),
        .executableTarget(
            name: "AirlineApp",
            dependencies: [
                "Airline",
                .product(name: "AirlineServer", package: "Example"),
                .product(name: "AtomNetworking", package: "AtomNetworking"),
                .product(name: "AtomNetworkingSignIn", package: "AtomNetworking"),
            ],
            swiftSettings: likeXcode
        ),
        .testTarget(
            name: "AirlineTests",
            dependencies: [
                "Airline",
                .product(name: "AirlineServer", package: "Example"),
                .product(name: "AtomNetworking", package: "AtomNetworking"),
                .product(name: "AtomNetworkingSignIn", package: "AtomNetworking"),
                .product(name: "AtomNetworkingTesting", package: "AtomNetworking"),
            ],
            swiftSettings: likeXcode
        ),
    ],
    swiftLanguageModes: [.v6]
)
