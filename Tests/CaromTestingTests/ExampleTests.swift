import CaromCore
import CaromTesting
import Foundation
import Testing

// The code between the two lines "// example" is repeated in Testing.md.
// example
/// Sends its mallet's position 60 times a second, and measures the longest time without one from
/// the opponent.
struct Player: VirtualNode {
  static let port: UInt16 = 7777
  let host: VirtualHost
  private var opponent: Endpoint
  private var socket: VirtualSocket?
  private var tick: UInt16 = 0
  private var latest: UInt16 = 0
  private var receivedAt = Instant.zero
  private(set) var longestGap = Duration.zero
  private(set) var nextTimeout: Instant? = .zero

  init(on host: VirtualHost, against opponent: VirtualHost) {
    self.host = host
    self.opponent = Endpoint(opponent.v4, port: Self.port)
  }

  mutating func start(in network: inout VirtualNetwork) {
    socket = network.bind(host, port: Self.port)
  }

  mutating func handleTimeout(in network: inout VirtualNetwork) {
    guard let socket else { return }
    tick += 1
    network.send([UInt8(tick >> 8), UInt8(tick & 255)], from: socket, to: opponent)
    nextTimeout = network.now + .microseconds(16_667)
  }

  mutating func handle(_ event: VirtualEvent, in network: inout VirtualNetwork) {
    guard case .datagram(let datagram, _) = event, datagram.payload.count == 2 else { return }
    let tick = UInt16(datagram.payload[0]) << 8 | UInt16(datagram.payload[1])
    guard tick > latest else { return }  // late or duplicated
    latest = tick
    opponent = datagram.source  // a NAT may have changed its port
    longestGap = max(longestGap, network.now - receivedAt)
    receivedAt = network.now
  }
}

struct MalletStalled: Error { let gap: Duration? }

@Test func `no mallet stalls for more than four seconds`() throws {
  let environment = ProcessInfo.processInfo.environment
  let profiles = LinkProfile.all(named: environment["CAROM_PROFILE"])
  try Seeds(3, replay: environment["CAROM_SEED"]).check(profiles) { profile, seed in
    var world = VirtualWorld<Player>(seed: seed)
    let (maya, leo) = (world.network.addHost(), world.network.addHost())
    world.network.setProfile(profile, from: maya, to: leo)
    world.start(Player(on: maya, against: leo), on: maya)
    world.start(Player(on: leo, against: maya), on: leo)
    try world.run(for: .seconds(12))
    for host in [maya, leo] {
      let gap = world[host]?.longestGap
      guard let gap, gap < .seconds(4), gap > .zero else {
        throw MalletStalled(gap: gap)
      }
    }
  }
}
// example

/// The example in Testing.md must be equal to the code above.
@Test func `the documentation contains the tested example`() throws {
  let here = URL(filePath: #filePath)
  let code = try String(contentsOf: here, encoding: .utf8).components(
    separatedBy: "// example\n")
  let top = here.deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()
  let page = try String(
    contentsOf: top.appending(path: "Sources/Carom/Carom.docc/Testing.md"), encoding: .utf8)
  #expect(code.count == 3)
  #expect(page.contains("```swift\n" + code[1] + "```\n"))
}
