import CaromCore
import CaromTesting
import Foundation
import Testing

@testable import CaromProtocol

/// Every network of the table, with a game, with bulk, and with both, over many seeds: nothing
/// reliable is lost, doubled or out of order, states never go back, and bounds hold.
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

  @Test(arguments: Mix.allCases)
  func `every network carries it, whatever the seed`(mix: Mix) throws {
    let rows = LinkProfile.table(only: Self.environment["CAROM_ROW"])
    var unanswered = 0
    try Seeds(Self.seeds, replay: Self.environment["CAROM_SEED"]).check(rows) { row, seed in
      if try !Self.run(row, mix, seed) { unanswered += 1 }
    }
    // GilbertElliottLoss that swallow every hello for ten seconds.
    #expect(unanswered * 1_000 <= rows.count * Self.seeds)
  }

  /// False where nobody ever heard of the other, and both were told.
  private static func run(_ row: LinkProfile, _ mix: Mix, _ seed: UInt64) throws -> Bool {
    var duel = VirtualPair(seed: seed, profile: row, load: mix.load)
    let isDone = try duel.runLoad(for: .seconds(180))
    let peers = [duel.hostPeer, duel.callerPeer]
    if let fault = duel.faults.first { throw Broken(description: "\(mix): \(fault)") }
    if peers.allSatisfy({ $0.openedAt == nil }),
      duel.callerPeer.endings == [.handshakeTimeout], duel.hostPeer.endings.isEmpty
    {
      return false
    }
    if !isDone {
      let counts = peers.map { "\($0.checker.events) events, \($0.checker.bulkBytes) bytes" }
      throw Broken(description: "\(mix): not done: \(counts), \(peers.flatMap(\.endings))")
    }
    for peer in peers {
      if let datagram = peer.connection?.datagram, datagram.malformedPackets > 0 {
        throw Broken(description: "\(mix): \(datagram.malformedPackets) malformed packets")
      }
      if peer.largestDatagram > 1472 {
        throw Broken(description: "\(mix): a datagram of \(peer.largestDatagram) bytes")
      }
    }
    return true
  }
}

/// Opening and closing, many times over a bad line.
@Suite struct ConnectCycleTests {
  #if DEBUG
    static let cycles = 200
  #else
    static let cycles = 10_000
  #endif

  @Test func `of many connects at five per cent loss nearly all succeed, the rest are told`()
    throws
  {
    let profile = LinkProfile(
      "lossy", LinkConditions(oneWay: .milliseconds(50), loss: 0.05))
    var failures = 0
    for seed in 0..<UInt64(Self.cycles) {
      var duel = VirtualPair(seed: seed, profile: profile)
      let (host, caller) = (duel.host, duel.caller)
      let isOpen = try duel.world.run(for: .seconds(12)) { world in
        world[host]?.openedAt != nil && world[caller]?.openedAt != nil
          || world[caller]?.endings.isEmpty == false
      }
      if duel.callerPeer.openedAt == nil { failures += 1 }
      #expect(isOpen, "seed \(seed)")
      duel.world.withNode(of: caller) { node, network in node.close(in: &network) }
      let isEmpty = try duel.world.run(for: .seconds(12)) { world in
        world[host]?.machine.connectionIDs.isEmpty == true && world[caller]?.machine.connectionIDs.isEmpty == true
      }
      #expect(isEmpty, "seed \(seed)")
      #expect(duel.callerPeer.endings.count == 1, "seed \(seed)")
    }
    #expect(failures * 1_000 <= Self.cycles)
  }
}
