// swift-tools-version: 6.2
import PackageDescription

// The ENet peer of `bench session`, in a separate package, so that Carom builds without ENet.
let package = Package(
  name: "ENetPeer",
  targets: [
    .executableTarget(
      name: "enet-peer", cSettings: [.define("_GNU_SOURCE")],
      linkerSettings: [.linkedLibrary("enet")]),
    .executableTarget(
      name: "enet-count", cSettings: [.define("_GNU_SOURCE")],
      linkerSettings: [.linkedLibrary("enet")]),
  ],
  cLanguageStandard: .gnu11
)
