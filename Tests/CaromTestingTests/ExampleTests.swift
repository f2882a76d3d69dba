import CaromCore
import CaromTesting
import Foundation
import Testing

// What stands between the two lines below is in the documentation as it is here.
// example
/// Says sixty times a second where the own mallet is, and hears where the other's is.
struct Player: VirtualNode {
  static let port: UInt16 = 7777
  let host: VirtualHost
  private var opponent: Endpoint
  private var socket: VirtualSocket?
  private var tick: UInt16 = 0
  private var latest: UInt16 = 0
  private var heardAt = Instant.zero
  private(set) var longestSilence = Duration.zero
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
    guard tick > latest else { return }  // late or doubled: the mallet never goes back
    latest = tick
    opponent = datagram.source  // a translator may have given it another port
    longestSilence = max(longestSilence, network.now - heardAt)
    heardAt = network.now
  }
}

struct MalletStood: Error { let silence: Duration? }

@Test func `no mallet stands still for more than four seconds`() throws {
  let environment = ProcessInfo.processInfo.environment
  let rows = LinkProfile.table(only: environment["CAROM_ROW"])
  try Seeds(3, replay: environment["CAROM_SEED"]).check(rows) { row, seed in
    var world = VirtualWorld<Player>(seed: seed)
    let (maya, leo) = (world.network.addHost(), world.network.addHost())
    world.network.setProfile(row, from: maya, to: leo)
    world.start(Player(on: maya, against: leo), on: maya)
    world.start(Player(on: leo, against: maya), on: leo)
    try world.run(for: .seconds(12))
    for host in [maya, leo] {
      let silence = world[host]?.longestSilence
      guard let silence, silence < .seconds(4), silence > .zero else {
        throw MalletStood(silence: silence)
      }
    }
  }
}
// example

/// The documentation shows the code above and no other.
@Test func `the example in the documentation is the one that is tested`() throws {
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
