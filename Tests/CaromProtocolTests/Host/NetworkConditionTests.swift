import CaromCore
import CaromTesting
import Foundation
import Testing

@testable import CaromProtocol

/// Runs a game, a bulk transfer and both over every network condition in `LinkProfile.all`, with
/// many seeds. No reliable message is lost, duplicated or reordered, no older state follows a newer
/// one, and all bounds hold.
@Suite struct NetworkConditionTests {
  enum Mix: String, CaseIterable {
    case game, bulk, both

    var load: Load {
      switch self {
      case .game: Load(hertz: 60, ticks: 150)
      case .bulk: Load(bulkBytes: 96 << 10)
      case .both: Load(hertz: 60, ticks: 120, bulkBytes: 64 << 10)
      }
    }
  }

  struct Broken: Error, CustomStringConvertible { let description: String }

  #if DEBUG
    static let defaultSeeds = 1
  #else
    static let defaultSeeds = 20
  #endif
  private static let environment = ProcessInfo.processInfo.environment
  private static let seeds = environment["CAROM_SEEDS"].flatMap { Int($0) } ?? defaultSeeds

  @Test(arguments: Mix.allCases, VirtualPeer.Links.datagrams)
  func `every network condition delivers all reliable messages in order`(
    mix: Mix, links: VirtualPeer.Links
  ) throws {
    let rows = LinkProfile.all(named: Self.environment["CAROM_PROFILE"])
    var unanswered = 0
    try Seeds(Self.seeds, replay: Self.environment["CAROM_SEED"]).check(rows) { row, seed in
      if try !Self.run(row, mix, links, seed) { unanswered += 1 }
    }
    // A loss burst may drop every hello, or every message of a handshake, until the time limit.
    #expect(unanswered * 1_000 <= rows.count * Self.seeds)
  }

  /// Returns false if the handshake timed out because too many packets were lost.
  private static func run(
    _ row: LinkProfile, _ mix: Mix, _ links: VirtualPeer.Links, _ seed: UInt64
  ) throws -> Bool {
    var pair = VirtualPair(seed: seed, profile: row, links: links, load: mix.load)
    let isDone = try pair.runLoad(for: .seconds(180))
    let peers = [pair.hostPeer, pair.clientPeer]
    if let fault = pair.faults.first { throw Broken(description: "\(mix): \(fault)") }
    // The host may have granted the seat, and then hear no more of the client.
    if pair.clientPeer.openedAt == nil, pair.clientPeer.endings == [.handshakeTimeout],
      [[], [.handshakeTimeout], [.timedOut]].contains(pair.hostPeer.endings)
    {
      return false
    }
    if !isDone {
      let counts = peers.map { "\($0.checker.events) events, \($0.checker.bulkBytes) bytes" }
      throw Broken(description: "\(mix): not done: \(counts), \(peers.flatMap(\.endings))")
    }
    for peer in peers {
      if let datagram = peer.connection?.datagram {
        let dropped = datagram.malformedPackets + Int(datagram.forgedPackets)
        guard dropped == 0 else {
          throw Broken(description: "\(mix): \(dropped) malformed or forged packets")
        }
      }
      if peer.largestDatagram > 1472 {
        throw Broken(description: "\(mix): a datagram of \(peer.largestDatagram) bytes")
      }
    }
    return true
  }
}

/// Opens and closes many connections over a lossy link.
@Suite struct ConnectCycleTests {
  #if DEBUG
    static let cycles = 200
  #else
    static let cycles = 10_000
  #endif

  @Test
  func `at 5% loss nearly all connection attempts succeed and the others report their failure`()
    throws
  {
    let profile = LinkProfile(
      "lossy", LinkConditions(oneWay: .milliseconds(50), loss: 0.05))
    var failures = 0
    for seed in 0..<UInt64(Self.cycles) {
      var pair = VirtualPair(seed: seed, profile: profile)
      let (host, client) = (pair.host, pair.client)
      let isOpen = try pair.world.run(for: .seconds(12)) { world in
        world[host]?.openedAt != nil && world[client]?.openedAt != nil
          || world[client]?.endings.isEmpty == false
      }
      if pair.clientPeer.openedAt == nil { failures += 1 }
      #expect(isOpen, "seed \(seed)")
      pair.world.withNode(of: client) { node, network in node.close(in: &network) }
      let isEmpty = try pair.world.run(for: .seconds(12)) { world in
        world[host]?.machine.connectionIDs.isEmpty == true
          && world[client]?.machine.connectionIDs.isEmpty == true
      }
      #expect(isEmpty, "seed \(seed)")
      #expect(pair.clientPeer.endings.count == 1, "seed \(seed)")
    }
    #expect(failures * 1_000 <= Self.cycles)
  }
}
