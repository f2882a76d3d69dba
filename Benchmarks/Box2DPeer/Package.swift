// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "Box2DPeer",
  targets: [
    .executableTarget(
      name: "box2d-peer", linkerSettings: [.linkedLibrary("box2d"), .linkedLibrary("m")])
  ],
  cxxLanguageStandard: .cxx17
)
