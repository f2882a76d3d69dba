// swift-tools-version: 6.2
import PackageDescription

// ENet as a peer for `bench session`: apart, so that the project builds without it.
let package = Package(
  name: "ENetPeer",
  targets: [
    .executableTarget(
      name: "enet-peer", cSettings: [.define("_GNU_SOURCE")],
      linkerSettings: [.linkedLibrary("enet")])
  ],
  cLanguageStandard: .gnu11
)
