// swift-tools-version: 6.2

// Stands for Alaska Airlines' package: only the names are the same, and nothing is sent.

import PackageDescription

let package = Package(
    name: "Atom",
    products: [.library(name: "AtomNetworking", targets: ["AtomNetworking"])],
    targets: [.target(name: "AtomNetworking")],
    swiftLanguageModes: [.v6]
)
