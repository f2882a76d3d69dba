// swift-tools-version: 6.2
import PackageDescription

/// Every target: Swift 6 mode, warnings are errors, memory-unsafe code has to say so.
let strict: [SwiftSetting] = [
  .treatAllWarnings(as: .error),
  .strictMemorySafety(),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
  .enableUpcomingFeature("ImmutableWeakCaptures"),
  .enableExperimentalFeature("Lifetimes"),
]

/// With `CAROM_OPTIMIZED`, as in `make test`, the library's modules are compiled as a release build
/// compiles them, but keep their assertions: the tests check what the optimizer makes of the code.
/// A package with unsafe flags cannot be a dependency, so users never get them.
let optimized: [SwiftSetting] =
  Context.environment["CAROM_OPTIMIZED"] == nil
  ? []
  : [
    .unsafeFlags([
      "-O", "-whole-module-optimization", "-num-threads", "2", "-assert-config", "Debug",
    ])
  ]

/// A library module in `Sources/<name>`.
func module(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
  .target(name: name, dependencies: dependencies, swiftSettings: strict + optimized)
}

/// A test target in `Tests/<name>Tests`.
func tests(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
  .testTarget(name: "\(name)Tests", dependencies: dependencies, swiftSettings: strict)
}

/// Sources that are written for Apple's frameworks, in Swift 5 mode and without our rules.
let client: [SwiftSetting] = [.swiftLanguageMode(.v5)]

// The modules with the names of Apple's frameworks have those names only where there are no such
// frameworks. The condition looks at the host that builds, not at the target.
#if os(Linux)
  let multipeer = "MultipeerConnectivity"
  let gameKit = "GameKit"
#else
  let multipeer = "CaromMultipeer"
  let gameKit = "CaromGameKit"
#endif

let arguments = Target.Dependency.product(name: "ArgumentParser", package: "swift-argument-parser")

let package = Package(
  name: "carom",
  platforms: [.macOS(.v26)],
  products: [
    .library(name: "Carom", targets: ["Carom"]),
    .library(name: "CaromCodec", targets: ["CaromCodec"]),
    .library(name: "CaromCBOR", targets: ["CaromCBOR"]),
    .library(name: "CaromTransport", targets: ["CaromTransport"]),
    .library(name: "CaromDiscovery", targets: ["CaromDiscovery"]),
    .library(name: "CaromSession", targets: ["CaromSession"]),
    .library(name: "CaromNearby", targets: ["CaromNearby"]),
    .library(name: "CaromServer", targets: ["CaromServer"]),
    .library(name: "CaromFleet", targets: ["CaromFleet"]),
    .library(name: multipeer, targets: [multipeer]),
    .library(name: gameKit, targets: [gameKit]),
    .library(name: "CaromBonjour", targets: ["CaromBonjour"]),
    .library(name: "CaromPhysics", targets: ["CaromPhysics"]),
    .library(name: "CaromSimulation", targets: ["CaromSimulation"]),
    .library(name: "CaromTesting", targets: ["CaromTesting"]),
    .library(name: "CaromSessionTesting", targets: ["CaromSessionTesting"]),
    .library(name: "AirHockey", targets: ["AirHockey"]),
    .executable(name: "air-hockey", targets: ["air-hockey"]),
    .executable(name: "bench", targets: ["bench"]),
    .executable(name: "carom", targets: ["carom-tool"]),
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
    // Of CaromServer alone.
    .package(url: "https://github.com/apple/swift-log", from: "1.16.0"),
    .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
  ],
  targets: [
    // C
    .systemLibrary(
      name: "CLibuv", path: "CSources/CLibuv", pkgConfig: "libuv",
      providers: [.apt(["libuv1-dev"]), .brew(["libuv"])]),
    .systemLibrary(
      name: "COpenSSL", path: "CSources/COpenSSL", pkgConfig: "openssl",
      providers: [.apt(["libssl-dev"]), .brew(["openssl@3"])]),
    .target(
      name: "CUVLoop", dependencies: ["CLibuv", "COpenSSL"], path: "CSources/CUVLoop",
      publicHeadersPath: "include",
      cSettings: [
        .define("_GNU_SOURCE"), .enableWarning("extra"), .treatAllWarnings(as: .error),
      ],
      // Debian's packages of these two have no pkg-config file.
      linkerSettings: [.linkedLibrary("http_parser"), .linkedLibrary("wslay")]),

    .target(
      name: "CTerminal", path: "CSources/CTerminal", publicHeadersPath: "include",
      cSettings: [
        .define("_GNU_SOURCE"), .enableWarning("extra"), .treatAllWarnings(as: .error),
      ]),

    // Of the game alone.
    .systemLibrary(
      name: "CLibqrencode", path: "CSources/CLibqrencode", pkgConfig: "libqrencode",
      providers: [.apt(["libqrencode-dev"]), .brew(["qrencode"])]),
    .target(
      name: "CQRCode", dependencies: ["CLibqrencode"], path: "CSources/CQRCode",
      publicHeadersPath: "include",
      cSettings: [.enableWarning("extra"), .treatAllWarnings(as: .error)]),

    // Compiled for WebAssembly by the scripts that build pages; here, for its tests.
    .target(
      name: "CWebRuntime", path: "CSources/CWebRuntime", publicHeadersPath: "include",
      cSettings: [.enableWarning("extra"), .treatAllWarnings(as: .error)]),

    .systemLibrary(
      name: "CSodium", path: "CSources/CSodium", pkgConfig: "libsodium",
      providers: [.apt(["libsodium-dev"]), .brew(["libsodium"])]),

    // Pure: no I/O, no clock, no threads, no Foundation
    module("CaromCore"),
    module("CaromCodec", ["CaromCore"]),
    module("CaromCBOR", ["CaromCore", "CaromCodec"]),
    module("CaromCrypto", ["CaromCore", "CSodium"]),
    module("CaromDataChannel", ["CaromCore"]),
    module("CaromDNS", ["CaromCore"]),
    module("CaromProtocol", ["CaromCore", "CaromCodec", "CaromCrypto"]),
    module("CaromGroup", ["CaromCore", "CaromCodec", "CaromCrypto", "CaromProtocol"]),
    module("CaromPlacement", ["CaromCore", "CaromCrypto"]),
    module("CaromPhysics"),
    module("CaromSimulation", ["CaromCore"]),
    module("CaromTesting", ["CaromCore"]),
    module("TerminalText"),

    // Shell: the only modules that await or touch a socket
    module("CaromTransport", ["CaromCore", "CUVLoop"]),
    module("CaromDiscovery", ["CaromCore", "CaromDNS", "CaromTransport"]),
    module(
      "CaromSession",
      [
        "CaromCBOR", "CaromCore", "CaromCrypto", "CaromDataChannel", "CaromProtocol",
        "CaromSimulation", "CaromTesting", "CaromTransport",
      ]),
    module(
      "CaromNearby",
      [
        "CaromCBOR", "CaromCore", "CaromCodec", "CaromCrypto", "CaromDNS", "CaromDiscovery",
        "CaromGroup", "CaromProtocol", "CaromSession", "CaromTransport",
      ]),
    module(
      "Carom",
      [
        "CaromCBOR", "CaromCodec", "CaromCore", "CaromCrypto", "CaromDNS", "CaromDiscovery",
        "CaromNearby", "CaromPhysics", "CaromProtocol", "CaromSession", "CaromSimulation",
        "CaromTesting", "CaromTransport",
      ]),

    // The names of Apple's frameworks
    .target(
      name: multipeer,
      dependencies: [
        "CaromCore", "CaromCrypto", "CaromDNS", "CaromDiscovery", "CaromGroup", "CaromNearby",
        "CaromProtocol", "CaromSession", "CaromTransport",
      ],
      path: "Sources/MultipeerConnectivity", swiftSettings: strict + optimized),
    module(
      "CaromBonjour",
      [
        "CaromCore", "CaromCrypto", "CaromDNS", "CaromDiscovery", "CaromGroup", "CaromNearby",
        "CaromProtocol", "CaromSession", "CaromTransport",
      ]),
    .target(
      name: gameKit,
      dependencies: [.byName(name: multipeer), "CaromBonjour", "CaromNearby", "CaromTransport"],
      path: "Sources/GameKit", swiftSettings: strict + optimized),

    // Sessions on the virtual network
    module(
      "CaromSessionTesting", ["CaromCore", "CaromSession", "CaromTesting", "CaromTransport"]),

    // Sessions for servers: logs, metrics and lifecycle
    module(
      "CaromServer",
      [
        "CaromCore", "CaromProtocol", "CaromSession", "CaromTransport",
        .product(name: "Logging", package: "swift-log"),
        .product(name: "CoreMetrics", package: "swift-metrics"),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
      ]),

    // A fleet of hosts
    module(
      "CaromFleet",
      [
        "CaromCore", "CaromCrypto", "CaromPlacement", "CaromProtocol", "CaromSession",
        "CaromTransport",
      ]),

    // What the programs have in common
    module(
      "CommandSupport",
      [
        "CaromCore", "CaromCrypto", "CaromDNS", "CaromDiscovery", "CaromFleet", "CaromPlacement",
        "CaromSession", "CaromTransport", "TerminalText", arguments,
      ]),

    // The game
    module("AirHockey", ["CaromCore", "CaromPhysics", "CaromSimulation"]),
    // Compiled for WebAssembly by `make wasm`; here, for their tests.
    module("WebEngine", ["CaromCore", "CaromProtocol", "CaromSimulation"]),
    module("WebGame", ["CaromCore", "CaromProtocol", "CaromSimulation", "WebEngine"]),
    module(
      "AirHockeyEngine",
      [
        "AirHockey", "CaromCore", "CaromPhysics", "CaromProtocol", "CaromSimulation", "WebEngine",
      ]),
    module("AirHockeyTerminal", ["AirHockey", "CaromCore", "CaromPhysics", "TerminalText"]),
    .executableTarget(
      name: "air-hockey",
      dependencies: [
        "AirHockey", "AirHockeyTerminal", "Carom", "CaromCore", "CaromCrypto", "CaromFleet",
        "CaromPhysics", "CaromPlacement", "CaromServer", "CaromSimulation", "CaromTransport",
        "CommandSupport", "CQRCode", "CTerminal", "TerminalText", arguments,
      ],
      swiftSettings: strict),

    // The command line tool
    .executableTarget(
      name: "carom-tool",
      dependencies: [
        "CaromCore", "CaromCrypto", "CaromDNS", "CaromDiscovery", "CaromFleet", "CaromNearby",
        "CaromPlacement", "CaromTransport", "CommandSupport", "CTerminal", "TerminalText",
        arguments,
      ],
      swiftSettings: strict),

    // Benchmarks
    .target(name: "BenchProbe", path: "Benchmarks/BenchProbe", cSettings: [.define("_GNU_SOURCE")]),
    .target(
      name: "EchoPeers", dependencies: ["CLibuv"], path: "Benchmarks/EchoPeers",
      cSettings: [.define("_GNU_SOURCE")]),
    .target(
      name: "SessionPeers", path: "Benchmarks/SessionPeers", cSettings: [.define("_GNU_SOURCE")]),
    .executableTarget(
      name: "bench",
      dependencies: [
        "AirHockey", "BenchProbe", "Carom", "CaromCBOR", "CaromCodec", "CaromCore", "CaromDNS",
        "CaromCrypto", "CaromDataChannel", "CaromDiscovery", "CaromFleet", "CaromPhysics",
        "CaromPlacement", "CaromSessionTesting", "CaromSimulation", "CaromTesting",
        "CaromTransport", "EchoPeers", "SessionPeers", "TestRedis", "TestTLS", arguments,
      ],
      path: "Benchmarks/bench", swiftSettings: strict),

    // Tests
    .target(
      name: "CSystemCalls", path: "Tests/SystemCalls", publicHeadersPath: "include",
      cSettings: [
        .define("_GNU_SOURCE"), .enableWarning("extra"), .treatAllWarnings(as: .error),
      ]),
    .target(
      name: "CTLSClient", dependencies: ["COpenSSL"], path: "Tests/TLSClient",
      publicHeadersPath: "include",
      cSettings: [.enableWarning("extra"), .treatAllWarnings(as: .error)]),
    .target(
      name: "TestTLS", dependencies: ["CaromTransport", "CTLSClient"], path: "Tests/TestTLS",
      swiftSettings: strict),
    .target(
      name: "TestClock", dependencies: ["CaromCore", "CaromTransport", "CSystemCalls"],
      path: "Tests/TestClock", swiftSettings: strict),
    .target(name: "TestEvents", path: "Tests/TestEvents", swiftSettings: strict),
    .target(
      name: "TestRelay", dependencies: ["CaromCore", "CaromTransport"], path: "Tests/TestRelay",
      swiftSettings: strict),
    .target(
      name: "TestRedis", dependencies: ["CaromCore", "CaromTransport"],
      path: "Tests/TestRedis", swiftSettings: strict),
    .target(
      name: "TestAgones", dependencies: ["CaromCore", "CaromTransport"],
      path: "Tests/TestAgones", swiftSettings: strict),
    .executableTarget(
      name: "carom-peer", dependencies: ["CaromCore", "CaromDiscovery", "CaromTransport"],
      path: "Tests/Peer", swiftSettings: strict),
    .executableTarget(
      name: "fleet-peer", dependencies: ["Carom", "CaromFleet"], path: "Tests/FleetPeer",
      swiftSettings: strict),
    tests("CaromCore", ["CaromCore"]),
    tests("CaromCodec", ["CaromCore", "CaromCodec"]),
    tests("CaromCBOR", ["CaromCBOR", "CaromCore"]),
    tests("CaromCrypto", ["CaromCore", "CaromCrypto"]),
    tests("CaromDataChannel", ["CaromCore", "CaromDataChannel", "CaromTesting"]),
    tests("CaromDNS", ["CaromCore", "CaromCrypto", "CaromDNS", "CaromTesting"]),
    tests(
      "CaromProtocol",
      ["CaromCore", "CaromCodec", "CaromCrypto", "CaromProtocol", "CaromTesting"]),
    tests(
      "CaromGroup",
      ["CaromCore", "CaromCodec", "CaromCrypto", "CaromGroup", "CaromProtocol", "CaromTesting"]),
    tests(
      "CaromNearby",
      [
        "Carom", "CaromCore", "CaromDNS", "CaromDiscovery", "CaromGroup", "CaromNearby",
        "CaromProtocol", "CaromSession", "CaromSessionTesting", "CaromTransport", "TestRelay",
      ]),
    tests(
      "CaromPlacement",
      ["CaromCore", "CaromCrypto", "CaromFleet", "CaromPlacement", "CaromTransport", "TestRedis"]),
    tests(
      "CaromFleet",
      [
        "Carom", "CaromCore", "CaromCrypto", "CaromFleet", "CaromPlacement", "CaromProtocol",
        "CaromSession", "CaromTransport", "TestAgones", "TestRedis", "TestRelay", "TestTLS",
      ]),
    .target(
      name: "MultipeerSamples", dependencies: [.byName(name: multipeer)],
      path: "Tests/MultipeerSamples", swiftSettings: client),
    .executableTarget(
      name: "multipeer-peer", dependencies: [.byName(name: multipeer), "MultipeerSamples"],
      path: "Tests/MultipeerPeer", swiftSettings: client),
    tests(
      "MultipeerConnectivity",
      [
        .byName(name: multipeer), "CaromCore", "CaromGroup", "CaromTransport", "MultipeerSamples",
        "TestEvents", "multipeer-peer",
      ]),
    tests("CaromBonjour", ["CaromBonjour", "TestEvents"]),
    .target(
      name: "GameKitSamples", dependencies: [.byName(name: gameKit)],
      path: "Tests/GameKitSamples", swiftSettings: client),
    .executableTarget(
      name: "gamekit-peer", dependencies: [.byName(name: gameKit), "GameKitSamples"],
      path: "Tests/GameKitPeer", swiftSettings: client),
    tests(
      "GameKit",
      [
        .byName(name: gameKit), .byName(name: multipeer), "CaromCore", "TestEvents",
        "gamekit-peer",
      ]),
    tests("CaromPhysics", ["CaromPhysics"]),
    tests(
      "CaromSimulation",
      ["AirHockey", "CaromCore", "CaromPhysics", "CaromSimulation", "CaromTesting"]),
    tests(
      "CaromTransport",
      ["CaromCore", "CaromTransport", "CSystemCalls", "CUVLoop", "TestClock", "TestTLS"]),
    tests(
      "CaromDiscovery", ["CaromCore", "CaromDNS", "CaromDiscovery", "CaromTransport", "TestClock"]),
    tests(
      "CaromSession",
      [
        "Carom", "CaromCore", "CaromCrypto", "CaromDataChannel", "CaromDNS", "CaromProtocol",
        "CaromSession", "CaromTesting", "CaromTransport", "TestClock", "TestRelay", "TestTLS",
      ]),
    tests(
      "CaromServer",
      [
        "Carom", "CaromCore", "CaromProtocol", "CaromServer", "CaromSession", "CaromTransport",
        "TestClock",
        .product(name: "Logging", package: "swift-log"),
        .product(name: "MetricsTestKit", package: "swift-metrics"),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
      ]),
    tests("CaromTesting", ["CaromCore", "CaromTesting"]),
    tests(
      "CaromSessionTesting",
      [
        "CaromCBOR", "CaromCore", "CaromProtocol", "CaromSession", "CaromSessionTesting",
        "CaromTransport", "TestTLS",
      ]),
    tests("AirHockey", ["AirHockey", "CaromCore", "CaromPhysics", "CaromSimulation"]),
    tests(
      "WebGame",
      ["CaromCore", "CaromProtocol", "CaromSimulation", "CaromTesting", "WebEngine", "WebGame"]),
    tests(
      "AirHockeyEngine",
      [
        "AirHockey", "AirHockeyEngine", "CaromCore", "CaromPhysics", "CaromProtocol",
        "CaromSimulation", "WebEngine",
      ]),
    tests(
      "AirHockeyTerminal",
      ["AirHockey", "AirHockeyTerminal", "CaromCore", "CaromPhysics", "TerminalText"]),
    tests(
      "EndToEnd",
      [
        "AirHockey", "Carom", "CaromCore", "CaromCrypto", "CaromDNS", "CaromFleet",
        "CaromPlacement", "CaromProtocol", "CaromTransport", "TerminalText", "TestAgones",
        "TestRedis", "TestRelay", "TestTLS", "air-hockey", "carom-tool", "fleet-peer", arguments,
      ]),
    tests(
      "Interop",
      [
        "Carom", "CaromCore", "CaromCrypto", "CaromDNS", "CaromDiscovery", "CaromTransport",
        "carom-peer", "carom-tool",
      ]),
    .testTarget(
      name: "WireFormatTests",
      dependencies: [
        "AirHockey", "CaromCodec", "CaromCore", "CaromCrypto", "CaromGroup", "CaromProtocol",
        "CaromSimulation", "CaromTesting",
      ],
      exclude: ["peer"], swiftSettings: strict),
    tests("WebRuntime", ["CaromCore", "CWebRuntime"]),
    tests("Tidy", []),
  ],
  swiftLanguageModes: [.v6],
  cLanguageStandard: .gnu11
)

// `make docs` needs the documentation plugin; users of the package do not, and never resolve it.
if Context.environment["CAROM_DOCS"] != nil {
  package.dependencies.append(
    .package(url: "https://github.com/swiftlang/swift-docc-plugin", from: "1.5.0"))
  // The pages link to these modules, whose documentation therefore has to be built before them.
  package.targets.first { $0.name == "Carom" }?.dependencies += ["CaromServer", "CaromFleet"]
}
