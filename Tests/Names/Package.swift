// swift-tools-version: 6.2
import PackageDescription

// A program that uses Carom beside SwiftNIO, in a separate package, so that Carom builds without
// SwiftNIO.
let package = Package(
  name: "Names",
  platforms: [.macOS(.v26)],
  dependencies: [
    .package(name: "carom", path: "../.."),
    .package(url: "https://github.com/apple/swift-nio", from: "2.101.0"),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
  ],
  targets: [
    .executableTarget(
      name: "Names",
      dependencies: [
        .product(name: "Carom", package: "carom"),
        .product(name: "CaromServer", package: "carom"),
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
      ])
  ],
  swiftLanguageModes: [.v6]
)
