// swift-tools-version: 6.2

// An app that moves from Atom file by file: Atom's module has the same name, so one of the two gets another.

import PackageDescription

// Where two modules have the same name, `package` must be the identity: the last part of a package's address.
let folders = Context.packageDirectory.split(separator: "/")
let sdk = String(folders[folders.count - 3])

let package = Package(
    name: "BesideAtom",
    platforms: [.iOS(.v16), .macOS(.v13), .tvOS(.v16), .watchOS(.v9), .visionOS(.v1)],
    dependencies: [
        .package(path: "../.."),
        .package(path: "Atom"),
    ],
    targets: [
        .testTarget(
            name: "BesideAtomTests",
            dependencies: [
                .product(name: "AtomNetworking", package: "Atom", moduleAliases: ["AtomNetworking": "AlaskaAtom"]),
                .product(name: "AtomNetworking", package: sdk),
                .product(name: "AtomNetworkingExports", package: sdk),
                .product(name: "AtomNetworkingTesting", package: sdk),
            ])
    ],
    swiftLanguageModes: [.v6]
)
