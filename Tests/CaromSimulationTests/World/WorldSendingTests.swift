import CaromCore
import Testing

@testable import CaromSimulation

/// When a world writes a snapshot for a client, and what is in it.
@Suite struct WorldSendingTests {
  private static let schema = EntitySchema(.integer(0...60_000), .integer(0...60_000))

  private static func makeWorld(
    limit: Int = 1_150, bandwidth: Int? = nil, rate: Int = 60
  ) -> WorldReplicator {
    WorldReplicator(
      WorldConfiguration(
        schema: schema, ticksPerSecond: rate, snapshotLimit: limit, bandwidth: bandwidth))
  }

  @Test func `a client that requests a full snapshot gets one, also if nothing changes`() throws {
    var world = Self.makeWorld()
    let client = world.addClient()
    for id in UInt32(0)..<5 { world.set(id, values: [Int64(id), 1]) }
    for tick in 1...3 as ClosedRange<UInt64> {
      world.advance(to: Tick(tick))
      let isWritten = world.writeSnapshot(for: client)
      #expect(isWritten == (tick == 1))
      world.acknowledge(Tick(tick), from: client)
    }
    #expect(world.sentTick(of: client) == Tick(1))
    world.acknowledge(SnapshotAcknowledgement(newest: nil), from: client)
    world.advance(to: Tick(4))
    let isWritten = world.writeSnapshot(for: client)
    #expect(isWritten)
    var receiver = SnapshotReceiver(schema: Self.schema)
    try receiver.receive(world.snapshot(for: client).span)
    #expect(receiver.entities.ids == [0, 1, 2, 3, 4] && receiver.tick == Tick(4))
    #expect(world.sentTick(of: client) == Tick(4))
  }

  @Test func `each client receives what it lacks, whatever the others have`() throws {
    var world = Self.makeWorld()
    let first = world.addClient()
    world.set(1, values: [1, 1])
    world.advance(to: Tick(1))
    _ = world.writeSnapshot(for: first)
    world.acknowledge(Tick(1), from: first)
    let second = world.addClient()
    #expect(first != second)
    world.set(2, values: [2, 2])
    world.advance(to: Tick(2))
    var receivers = [SnapshotReceiver(schema: Self.schema), SnapshotReceiver(schema: Self.schema)]
    for (index, client) in [first, second].enumerated() {
      let isWritten = world.writeSnapshot(for: client)
      #expect(isWritten)
      _ = try? receivers[index].receive(world.snapshot(for: client).span)
    }
    #expect(receivers[0].acknowledgement.wantsKeyframe)
    #expect(receivers[1].entities.ids == [1, 2])
    #expect(world.tick == Tick(2))
  }

  @Test(arguments: [(60, 600), (20, 600), (60, 6_000)])
  func `the snapshots of a second stay within the bandwidth, and use it`(
    rate: Int, bandwidth: Int
  ) throws {
    var world = Self.makeWorld(limit: 100, bandwidth: bandwidth, rate: rate)
    let client = world.addClient()
    var generator = SeededGenerator(seed: 3)
    var sizes: [Int] = []
    for tick in 1...(12 * rate) {
      for id in UInt32(0)..<200 {
        let values = (0..<2).map { _ in Int64.random(in: 0...60_000, using: &generator) }
        world.set(id, values: values)
      }
      world.advance(to: Tick(UInt64(tick)))
      let isWritten = world.writeSnapshot(for: client)
      sizes.append(isWritten ? world.snapshot(for: client).count : 0)
      world.acknowledge(Tick(UInt64(tick)), from: client)
    }
    #expect(sizes.allSatisfy { $0 <= 100 })
    let burst = max(100, bandwidth / 10)
    for start in stride(from: 0, to: 11 * rate, by: rate / 2) {
      #expect(sizes[start..<start + rate].reduce(0, +) <= bandwidth + burst)
    }
    let total = sizes.dropFirst(2 * rate).reduce(0, +)
    #expect(total > min(bandwidth, 100 * rate) * 10 * 8 / 10)
  }

  @Test func `a snapshot of all entities removes at most a quarter of its limit in entities`()
    throws
  {
    var world = Self.makeWorld(limit: 400)
    var receiver = SnapshotReceiver(schema: Self.schema)
    let client = world.addClient()
    for id in UInt32(0)..<250 { world.set(id, values: [1, 1]) }
    var counts: [Int] = []
    for tick in 1...40 as ClosedRange<UInt64> {
      if tick == 30 { for id in UInt32(0)..<250 { world.remove(id) } }
      world.advance(to: Tick(tick))
      if world.writeSnapshot(for: client) {
        try receiver.receive(world.snapshot(for: client).span)
        world.acknowledge(receiver.acknowledgement, from: client)
      }
      counts.append(receiver.entities.count)
    }
    #expect(counts[28...] == [250, 150, 50, 0, 0, 0, 0, 0, 0, 0, 0, 0])
    #expect(world.clients[0]?.isAwake == false)
  }

  @Test func `an entity keeps what it was set to, by its type too`() throws {
    struct Flag: ReplicatedEntity, Equatable {
      var isUp: Bool
      var height: Int
      static let schema = EntitySchema(.flag, .integer(-5...5))
      func encode(into fields: inout EntityFieldWriter) {
        fields.write(isUp)
        fields.write(height)
      }
      init(decoding fields: inout EntityFieldReader) {
        isUp = fields.read()
        height = fields.read()
      }
      init(isUp: Bool, height: Int) { (self.isUp, self.height) = (isUp, height) }
    }
    var world = WorldReplicator(WorldConfiguration(schema: Flag.schema))
    let client = world.addClient()
    var receiver = SnapshotReceiver(schema: Flag.schema)
    for (tick, height) in [(1, -9), (2, 3), (3, 77)] as [(UInt64, Int)] {
      world.set(4, Flag(isUp: tick == 2, height: height))
      world.set(2, Flag(isUp: tick != 2, height: -height))
      world.advance(to: Tick(tick))
      _ = world.writeSnapshot(for: client)
      try receiver.receive(world.snapshot(for: client).span)
      let near = min(max(height, -5), 5)
      #expect(receiver.entities.entity(at: 1) == Flag(isUp: tick == 2, height: near))
      #expect(receiver.entities.entity(at: 0) == Flag(isUp: tick != 2, height: -near))
    }
    #expect(world.count == 2)
  }
}
