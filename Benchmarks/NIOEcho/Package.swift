// swift-tools-version: 6.0
import PackageDescription

// SwiftNIO as a peer for `bench echo`: apart, so that the project builds without it.
let package = Package(
  name: "NIOEcho",
  platforms: [.macOS(.v14)],
  dependencies: [
    .package(url: "https://github.com/apple/swift-nio", exact: "2.101.2")
  ],
  targets: [
    .executableTarget(
      name: "NIOEcho",
      dependencies: [
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOPosix", package: "swift-nio"),
      ])
  ]
)
