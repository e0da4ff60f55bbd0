// swift-tools-version: 6.0

// Keeps a session's tokens in PostgreSQL, for services that run in several
// processes or on several machines. Example/PostgresStore/test runs it all on a
// server of its own.

import PackageDescription

let package = Package(
    name: "PostgresStore",
    platforms: [.macOS(.v13)],
    products: [
        .library(name: "PostgresStore", targets: ["PostgresStore"])
    ],
    dependencies: [
        .package(name: "AtomNetworking", path: "../..")
    ],
    targets: [
        .systemLibrary(
            name: "CPostgreSQL", pkgConfig: "libpq", providers: [.apt(["libpq-dev"]), .brew(["libpq"])]),
        .target(
            name: "PostgresStore",
            dependencies: ["CPostgreSQL", .product(name: "AtomNetworking", package: "AtomNetworking")],
            resources: [.embedInCode("Schema.sql")]
        ),
        // What the tests run as another process.
        .executableTarget(
            name: "exchanger",
            dependencies: ["PostgresStore", .product(name: "AtomNetworking", package: "AtomNetworking")]
        ),
        .testTarget(
            name: "PostgresStoreTests",
            dependencies: [
                "CPostgreSQL", "PostgresStore", "exchanger",
                .product(name: "AtomNetworking", package: "AtomNetworking"),
            ]
        ),
    ],
    swiftLanguageModes: [.v6]
)
