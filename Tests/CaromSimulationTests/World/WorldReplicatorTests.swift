import CaromCore
import CaromTesting
import Foundation
import Testing

@testable import CaromSimulation

#if DEBUG
  private let worlds = 1
#else
  private let worlds = 8
#endif

@Suite struct WorldReplicatorTests {
  private let replay = ProcessInfo.processInfo.environment["CAROM_SEED"]
  private static let schema = EntitySchema(
    .position(0...100, step: 0.01), .position(0...100, step: 0.01), .integer(0...9))

  /// A client of a world and its connection.
  private struct Client {
    let id: WorldReplicator.ClientID
    var receiver = SnapshotReceiver(schema: WorldReplicatorTests.schema)
    var sizes: [Int] = []
    private var down: [(due: Int, bytes: [UInt8])] = []
    private var up: [(due: Int, bytes: [UInt8])] = []

    init(_ world: inout WorldReplicator) { id = world.addClient() }

    /// Advances the connection by one tick; the delay is 4 ticks in each direction.
    mutating func step(
      _ world: inout WorldReplicator, _ now: Int, loss: Double, _ generator: inout SeededGenerator
    ) throws {
      if world.writeSnapshot(for: id) {
        sizes.append(world.snapshot(for: id).count)
        if !generator.chance(loss) { down.append((now + 4, world.snapshot(for: id))) }
      } else {
        sizes.append(0)
      }
      while let first = down.first, first.due <= now {
        _ = try receiver.receive(first.bytes.span)
        down.removeFirst()
        var writer = PacketWriter()
        receiver.acknowledgement.encode(into: &writer)
        if !generator.chance(loss) { up.append((now + 4, writer.bytes)) }
      }
      while let first = up.first, first.due <= now {
        var reader = PacketReader(first.bytes.span)
        let sent = world.sentTick(of: id) ?? .zero
        world.acknowledge(try SnapshotAcknowledgement(decoding: &reader, sent: sent), from: id)
        up.removeFirst()
      }
    }
  }

  /// Entities that walk and sometimes stop, by id.
  private struct Walkers {
    var places: [UInt32: (x: Int64, y: Int64, stepX: Int64, stepY: Int64)] = [:]
    var generator: SeededGenerator

    init(_ count: Int, seed: UInt64) {
      generator = SeededGenerator(seed: seed)
      for id in 0..<UInt32(count) {
        let x = Int64.random(in: 0...10_000, using: &generator)
        let y = Int64.random(in: 0...10_000, using: &generator)
        places[id * 3] = (x, y, 0, 0)
      }
    }

    mutating func advance(_ world: inout WorldReplicator) {
      for id in places.keys.sorted() {
        guard var place = places[id] else { continue }
        if generator.chance(0.05) {
          place.stepX = .random(in: -10...10, using: &generator)
          place.stepY = generator.chance(0.5) ? 0 : .random(in: -10...10, using: &generator)
        }
        place.x = min(max(place.x + place.stepX, 0), 10_000)
        place.y = min(max(place.y + place.stepY, 0), 10_000)
        places[id] = place
        world.set(id, values: [place.x, place.y, Int64(id % 10)])
      }
    }
  }

  /// The longest time for which an entity that differed from the client's copy was not sent.
  private struct Starvation {
    private(set) var worst = 0
    private var waited: [UInt32: Int] = [:]
    private var last: [UInt32: Tick] = [:]

    mutating func note(_ receiver: SnapshotReceiver, _ walkers: Walkers) {
      for (index, id) in receiver.entities.ids.enumerated() {
        let seen = receiver.entityTicks[index]
        let isRight = receiver.entities.value(0, at: index) == walkers.places[id]?.x
        let before = waited[id] ?? 0
        let now = isRight || last[id] != seen ? 0 : before + 1
        waited[id] = now
        last[id] = seen
        worst = max(worst, now)
      }
    }
  }

  @Test(arguments: [0.0, 0.25])
  func `clients see nearby entities, and their exact state once everything is at rest`(loss: Double)
    throws
  {
    try Seeds(worlds, replay: replay).check { seed in
      let area = InterestArea([
        InterestTier(within: 10), InterestTier(within: 20, every: 3),
        InterestTier(within: 40, every: 9),
      ])
      var world = WorldReplicator(WorldConfiguration(schema: Self.schema, area: area))
      var walkers = Walkers(120, seed: seed)
      var generator = SeededGenerator(seed: seed)
      var clients = (0..<3).map { _ in Client(&world) }
      for now in 1...400 {
        if now < 300 { walkers.advance(&world) }
        if now == 200 { for id in UInt32(0)..<60 { world.remove(id * 3) } }
        if now >= 200 { for id in UInt32(0)..<60 { walkers.places[id * 3] = nil } }
        for index in clients.indices {
          let way = Double(min(now, 250))
          world.setFocus(x: way / 4, y: 30 + 20 * Double(index), for: clients[index].id)
        }
        world.advance(to: Tick(UInt64(now)))
        for index in clients.indices {
          try clients[index].step(&world, now, loss: loss, &generator)
        }
      }
      for (index, client) in clients.enumerated() {
        let focus = (x: Int64(6_250), y: Int64(3_000 + 2_000 * index))
        try check(client.receiver, walkers, focus)
        try #require(client.sizes.suffix(20).allSatisfy { $0 == 0 })
      }
    }
  }

  /// Checks that the client has the current values of every entity within the radius, and no entity
  /// far outside.
  private func check(
    _ receiver: SnapshotReceiver, _ walkers: Walkers, _ focus: (x: Int64, y: Int64)
  ) throws {
    for (id, place) in walkers.places {
      let x = place.x - focus.x
      let y = place.y - focus.y
      let (index, isFound) = receiver.entities.index(of: id)
      if x * x + y * y <= 4_000 * 4_000 {
        try #require(isFound, "\(id) is near")
        try #require(receiver.entities.value(0, at: index) == place.x)
        try #require(receiver.entities.value(1, at: index) == place.y)
      } else if x * x + y * y > 4_201 * 4_201 {
        try #require(!isFound, "\(id) is far")
      }
    }
    for id in receiver.entities.ids { try #require(walkers.places[id] != nil, "\(id) is gone") }
  }

  @Test(arguments: [(300, 240), (1_500, 60)])
  func `bandwidth is never exceeded and no entity starves`(bandwidth: Int, bound: Int) throws {
    try Seeds(worlds, replay: replay).check { seed in
      var world = WorldReplicator(
        WorldConfiguration(schema: Self.schema, snapshotLimit: 200, bandwidth: bandwidth))
      var walkers = Walkers(60, seed: seed)
      var generator = SeededGenerator(seed: seed)
      var client = Client(&world)
      var starvation = Starvation()
      for now in 1...600 {
        walkers.advance(&world)
        world.advance(to: Tick(UInt64(now)))
        try client.step(&world, now, loss: 0.05, &generator)
        guard now > 400, let tick = client.receiver.tick else { continue }
        let shown = client.receiver.entities
        try #require(shown.count >= 58)
        starvation.note(client.receiver, walkers)
        try #require(tick.rawValue <= UInt64(now))
      }
      // The limit on the bytes of any one second, plus one burst.
      for start in 0..<(600 - 60) {
        let sum = client.sizes[start..<start + 60].reduce(0, +)
        try #require(sum <= bandwidth + 200)
      }
      try #require(client.sizes.max()! <= 200)
      try #require(starvation.worst < bound)
    }
  }

  @Test func `many entities enter over several snapshots`() throws {
    var world = WorldReplicator(WorldConfiguration(schema: Self.schema, snapshotLimit: 400))
    var generator = SeededGenerator(seed: 1)
    var client = Client(&world)
    for id in UInt32(0)..<3_000 {
      world.set(id * 7, values: [Int64(id), Int64(id) * 3, 4])
    }
    for now in 1...120 {
      world.advance(to: Tick(UInt64(now)))
      try client.step(&world, now, loss: 0.1, &generator)
    }
    #expect(client.receiver.entities.count == 3_000)
    #expect(client.sizes.max()! <= 400)
    #expect(client.sizes.reduce(0, +) < 3_000 * 7)
    #expect(client.sizes.last == 0)
  }

  @Test func `an idle world sends nothing until something changes`() throws {
    var world = WorldReplicator(WorldConfiguration(schema: Self.schema))
    var generator = SeededGenerator(seed: 1)
    var client = Client(&world)
    for id in UInt32(0)..<50 { world.set(id, values: [Int64(id), 2, 3]) }
    for now in 1...40 {
      world.advance(to: Tick(UInt64(now)))
      try client.step(&world, now, loss: 0, &generator)
    }
    #expect(client.sizes.suffix(20).allSatisfy { $0 == 0 })
    world.set(7, values: [8, 2, 3])
    world.advance(to: Tick(200))
    let isWritten = world.writeSnapshot(for: client.id)
    #expect(isWritten)
    #expect(world.snapshot(for: client.id).count < 12)
  }
}
