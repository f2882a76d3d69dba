// swift-tools-version: 6.0
import PackageDescription

// The SwiftNIO peer of `bench echo`, in a separate package, so that Carom builds without SwiftNIO.
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
