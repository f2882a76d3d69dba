// swift-tools-version: 6.2
import PackageDescription

/// The fuzz targets. They are a separate package because the sanitizers would otherwise apply to
/// every product.
///
/// `Modules` contains symbolic links to the modules under test, so that they are compiled here with
/// coverage and their `package` declarations are accessible.
let settings: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
  .enableExperimentalFeature("Lifetimes"),
]

func module(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
  .target(
    name: name, dependencies: dependencies, path: "Modules/\(name)", swiftSettings: settings)
}

func fuzz(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
  .executableTarget(
    name: name, dependencies: dependencies + ["CaromCore", "FuzzSupport"], path: "Sources/\(name)",
    swiftSettings: settings)
}

let package = Package(
  name: "fuzz",
  targets: [
    module("CaromCore"),
    module("CaromCodec", ["CaromCore"]),
    module("CaromCBOR", ["CaromCore", "CaromCodec"]),
    module("CaromDataChannel", ["CaromCore"]),
    module("CaromDNS", ["CaromCore"]),
    .systemLibrary(
      name: "CLibuv", path: "Modules/CLibuv", pkgConfig: "libuv",
      providers: [.apt(["libuv1-dev"]), .brew(["libuv"])]),
    .systemLibrary(
      name: "COpenSSL", path: "Modules/COpenSSL", pkgConfig: "openssl",
      providers: [.apt(["libssl-dev"]), .brew(["openssl@3"])]),
    // SwiftPM compiles C with coverage alone.
    .target(
      name: "CUVLoop", dependencies: ["CLibuv", "COpenSSL"], path: "Modules/CUVLoop",
      publicHeadersPath: "include",
      cSettings: [.define("_GNU_SOURCE"), .unsafeFlags(["-fsanitize=address"])],
      linkerSettings: [.linkedLibrary("http_parser"), .linkedLibrary("wslay")]),
    module("CaromTransport", ["CaromCore", "CUVLoop"]),
    .target(
      name: "CTLSClient", dependencies: ["COpenSSL"], path: "Modules/TLSClient",
      publicHeadersPath: "include", cSettings: [.unsafeFlags(["-fsanitize=address"])]),
    module("TestTLS", ["CaromTransport", "CTLSClient"]),
    .systemLibrary(
      name: "CSodium", path: "Modules/CSodium", pkgConfig: "libsodium",
      providers: [.apt(["libsodium-dev"]), .brew(["libsodium"])]),
    module("CaromCrypto", ["CaromCore", "CSodium"]),
    module("CaromProtocol", ["CaromCore", "CaromCodec", "CaromCrypto"]),
    module("CaromGroup", ["CaromCore", "CaromCodec", "CaromCrypto", "CaromProtocol"]),
    module("CaromPlacement", ["CaromCore", "CaromCrypto"]),
    module("CaromPhysics"),
    module("CaromSimulation", ["CaromCore"]),
    module("AirHockey", ["CaromCore", "CaromPhysics", "CaromSimulation"]),
    module("AirHockeyTerminal", ["AirHockey", "CaromCore", "CaromPhysics", "TerminalText"]),
    module("TerminalText"),
    .target(name: "FuzzSupport", path: "Support", swiftSettings: settings),
    fuzz("FrameFuzz", ["CaromCodec"]),
    fuzz("LineFuzz", ["CaromCodec"]),
    fuzz("PacketFuzz", ["CaromCodec"]),
    fuzz("PayloadFuzz", ["CaromCBOR"]),
    fuzz("SCTPFuzz", ["CaromDataChannel"]),
    fuzz("STUNFuzz", ["CaromDataChannel"]),
    fuzz("MachineFuzz", ["CaromDNS"]),
    fuzz("MessageFuzz", ["CaromDNS"]),
    fuzz("NodeFuzz", ["CaromDNS"]),
    fuzz("UnicastFuzz", ["CaromDNS"]),
    fuzz("UpdateFuzz", ["CaromDNS"]),
    fuzz("AddressFuzz", []),
    fuzz("WebFuzz", ["CaromTransport"]),
    fuzz("ResponseFuzz", ["CaromTransport"]),
    fuzz("TLSFuzz", ["CaromTransport", "TestTLS"]),
    fuzz("NoiseFuzz", ["CaromCrypto"]),
    fuzz("TokenFuzz", ["CaromCrypto"]),
    fuzz("ProtocolPacketFuzz", ["CaromProtocol"]),
    fuzz("HelloFuzz", ["CaromCrypto", "CaromProtocol"]),
    fuzz("HandshakeFuzz", ["CaromCrypto", "CaromProtocol"]),
    fuzz("HostFuzz", ["CaromCrypto", "CaromProtocol"]),
    fuzz("SessionFuzz", ["CaromCodec", "CaromCrypto", "CaromProtocol"]),
    fuzz("TransferFuzz", ["CaromGroup"]),
    fuzz("StreamFuzz", ["CaromGroup"]),
    fuzz("MeshFuzz", ["CaromGroup", "CaromProtocol"]),
    fuzz("ReplicaFuzz", ["CaromGroup"]),
    fuzz("RESPFuzz", ["CaromPlacement"]),
    fuzz("RinkFuzz", ["AirHockey"]),
    fuzz("SnapshotFuzz", ["CaromSimulation"]),
    fuzz("RollbackFuzz", ["AirHockey", "CaromSimulation"]),
    fuzz("ReplayFuzz", ["AirHockey", "CaromSimulation"]),
    fuzz("InputFuzz", ["AirHockeyTerminal"]),
  ],
  swiftLanguageModes: [.v6]
)
