// swift-tools-version: 6.2

// Keeps a session's tokens in PostgreSQL, for services that run in several processes or on several machines.
// Example/PostgresStore/test runs it with a temporary server.

import PackageDescription

let package = Package(
    name: "PostgresStore",
    platforms: [.macOS(.v13)],
    products: [
        .library(name: "PostgresStore", targets: ["PostgresStore"]),
        .executable(name: "workers", targets: ["workers"]),
    ],
    dependencies: [
        .package(name: "AtomNetworking", path: "../.."),
        // Only for the demonstration: the airline server.
        .package(name: "Example", path: ".."),
    ],
    targets: [
        .systemLibrary(
            name: "CPostgreSQL", pkgConfig: "libpq", providers: [.apt(["libpq-dev"]), .brew(["libpq"])]),
        .target(
            name: "PostgresStore",
            dependencies: ["CPostgreSQL", .product(name: "AtomNetworking", package: "AtomNetworking")],
            resources: [.embedInCode("Schema.sql")]
        ),
        .executableTarget(
            name: "workers",
            dependencies: [
                "PostgresStore",
                .product(name: "AirlineServer", package: "Example"),
                .product(name: "AtomNetworking", package: "AtomNetworking"),
            ]
        ),
        .testTarget(
            name: "PostgresStoreTests",
            dependencies: [
                "CPostgreSQL", "PostgresStore",
                .product(name: "AtomNetworking", package: "AtomNetworking"),
                .product(name: "AtomNetworkingTesting", package: "AtomNetworking"),
            ]
        ),
    ],
    swiftLanguageModes: [.v6]
)
