// swift-tools-version: 6.2
import PackageDescription

/// Complete programs that use Carom as any other package would. Each is one file, but for
/// `Together`, which has four parts, and `TugOfWar`, which also serves a page. Except for `Start`, they run for some seconds by themselves:
/// `swift run --package-path Examples Chat`. Tests run `TugOfWar` and `Together` on a virtual
/// network: `swift test --package-path Examples`.
let package = Package(
  name: "Examples",
  platforms: [.macOS(.v26)],
  dependencies: [
    .package(name: "carom", path: ".."),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.0"),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
  ],
  targets: [
    .executableTarget(name: "Start", dependencies: [.product(name: "Carom", package: "carom")]),
    .executableTarget(name: "Chat", dependencies: [.product(name: "Carom", package: "carom")]),
    // `make wasm` takes the page; see the documentation's page GameOfYourOwn.
    .executableTarget(
      name: "TugOfWar", dependencies: [.product(name: "Carom", package: "carom")],
      exclude: ["index.html"]),
    .testTarget(
      name: "TugOfWarTests",
      dependencies: [
        "TugOfWar", .product(name: "CaromSessionTesting", package: "carom"),
      ]),
    .executableTarget(
      name: "Together", dependencies: [.product(name: "Carom", package: "carom")]),
    .testTarget(
      name: "TogetherTests",
      dependencies: [
        "Together", .product(name: "Carom", package: "carom"),
        .product(name: "CaromSessionTesting", package: "carom"),
      ]),
    .executableTarget(
      name: "FourPlayers", dependencies: [.product(name: "Carom", package: "carom")]),
    .executableTarget(
      name: "WorldServer",
      dependencies: [
        .product(name: "Carom", package: "carom"),
        .product(name: "CaromServer", package: "carom"),
        .product(name: "Logging", package: "swift-log"),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
      ]),
  ],
  swiftLanguageModes: [.v6]
)
