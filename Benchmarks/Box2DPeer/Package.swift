// swift-tools-version: 6.2
import PackageDescription

// The Box2D peer of `bench step`, in a separate package, so that Carom builds without Box2D.
let package = Package(
  name: "Box2DPeer",
  targets: [
    .executableTarget(
      name: "box2d-peer", linkerSettings: [.linkedLibrary("box2d"), .linkedLibrary("m")])
  ],
  cxxLanguageStandard: .cxx17
)
