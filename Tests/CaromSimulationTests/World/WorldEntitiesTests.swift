import CaromCore
import Testing

@testable import CaromSimulation

/// The entities of a world, and which of them a client needs to know about.
@Suite struct WorldEntitiesTests {
  private static let schema = EntitySchema(
    .integer(0...9), .position(0...100, step: 0.25), .position(0...100, step: 0.25))

  private func makeEntities(within radius: Double? = nil) -> WorldEntities {
    WorldEntities(
      schema: Self.schema,
      area: radius.map { InterestArea([InterestTier(within: $0)], positionField: 1) })
  }

  @Test func `a slot is dirty once until the next tick, if something in it changed`() {
    var entities = makeEntities()
    entities.set(7, [1, 2, 3])
    entities.set(9, [4, 5, 6])
    entities.set(7, [1, 2, 4])
    #expect(entities.dirty == [0, 1] && entities.count == 2)
    #expect(entities.slot(of: 7) == 0 && entities.slot(of: 9) == 1 && entities.slot(of: 8) == nil)
    #expect(entities.values == [1, 2, 4, 4, 5, 6])
    entities.clearDirty()
    entities.set(9, [4, 5, 6])
    #expect(entities.dirty == [])
    entities.set(9, [5, 5, 6])
    #expect(entities.dirty == [1])
  }

  @Test func `a removed entity makes its slot free, and its values count for nobody`() {
    var entities = makeEntities()
    entities.set(7, [1, 2, 3])
    entities.set(9, [4, 5, 6])
    entities.clearDirty()
    let isRemoved = [entities.remove(7), entities.remove(7), entities.remove(8)]
    #expect(isRemoved == [true, false, false])
    #expect(entities.dirty == [0] && entities.count == 1 && entities.isPresent == [false, true])
    #expect(entities.slot(of: 7) == nil)
    entities.clearDirty()
    // Another entity in the slot is new, also with the same values.
    entities.set(5, [1, 2, 3])
    #expect(entities.dirty == [0] && entities.ids == [5, 9] && entities.isPresent == [true, true])
    entities.set(7, [1, 2, 3])
    #expect(entities.ids == [5, 9, 7] && entities.count == 3)
  }

  @Test func `without an area, clients search again only if entities were added or removed`() {
    var entities = makeEntities()
    entities.set(7, [1, 2, 3])
    var last = entities.placement
    entities.set(7, [1, 2, 4])
    #expect(entities.placement == last && entities.grid == nil)
    entities.set(8, [1, 2, 4])
    #expect(entities.placement > last)
    last = entities.placement
    _ = entities.remove(8)
    #expect(entities.placement > last)
    last = entities.placement
    _ = entities.remove(8)
    #expect(entities.placement == last)
  }

  @Test func `with an area, clients also search again if an entity moved`() {
    var entities = makeEntities(within: 10)
    entities.set(7, [1, 2, 3])
    let last = entities.placement
    entities.set(7, [1, 2, 3])
    #expect(entities.placement == last)
    entities.set(7, [1, 400, 400])
    #expect(entities.placement > last && entities.place(0) == (400, 400))
    var near: [Int32] = []
    entities.grid?.gather(x: 400, y: 400, radius: 1, into: &near)
    #expect(near == [0])
    _ = entities.remove(7)
    near = []
    entities.grid?.gather(x: 400, y: 400, radius: 1, into: &near)
    #expect(near == [])
  }

  // MARK: A client

  private func makeConfiguration(_ refreshInterval: Int = 6) -> WorldConfiguration {
    WorldConfiguration(
      schema: Self.schema,
      area: InterestArea(
        [InterestTier(within: 10), InterestTier(within: 20, every: 4)], positionField: 1,
        refreshInterval: refreshInterval))
  }

  /// A world with entities at the given distances from (200, 200), in steps of 0.25, and a client
  /// that looks there.
  private func makeClient(_ distances: [Int64]) -> (WorldEntities, WorldClient) {
    let configuration = makeConfiguration()
    var entities = WorldEntities(schema: Self.schema, area: configuration.area)
    for (index, distance) in distances.enumerated() {
      entities.set(UInt32(index), [0, 200 + distance, 200])
    }
    var client = WorldClient(configuration)
    client.setFocus((200, 200))
    return (entities, client)
  }

  @Test func `a client sees entities from the radius on, and at the interval of their tier`() {
    var (entities, client) = makeClient([0, 40, 41, 80, 81, 84])
    client.refresh(entities, makeConfiguration(), at: Tick(10))
    #expect(client.seen.map(\.id) == [0, 1, 2, 3])
    #expect(client.seen.map(\.interval) == [1, 1, 4, 4])
    #expect(client.seen.map(\.waited) == [1, 1, 4, 4], "new entities are due at once")
    // What is seen already stays up to 1.05 times the radius.
    entities.set(3, [0, 284, 200])
    entities.set(2, [0, 285, 200])
    client.refresh(entities, makeConfiguration(), at: Tick(16))
    #expect(client.seen.map(\.id) == [0, 1, 3] && client.seen[2].interval == 4)
  }

  @Test func `until the refresh interval has passed, only removed entities disappear`() {
    var (entities, client) = makeClient([0, 40])
    client.refresh(entities, makeConfiguration(), at: Tick(10))
    entities.set(9, [0, 200, 200])
    entities.set(1, [0, 400, 200])
    _ = entities.remove(0)
    client.refresh(entities, makeConfiguration(), at: Tick(15))
    #expect(client.seen.map(\.id) == [1])
    // Another entity in the slot is not the one that was seen.
    entities.set(3, [0, 200, 200])
    client.refresh(entities, makeConfiguration(), at: Tick(15))
    #expect(client.seen.map(\.id) == [1])
    client.refresh(entities, makeConfiguration(), at: Tick(16))
    #expect(client.seen.map(\.id) == [3, 9])
  }

  @Test func `a new focus is searched at the next tick that is due, and wakes the client`() {
    let (entities, start) = makeClient([0, 190])
    var client = start
    client.refresh(entities, makeConfiguration(), at: Tick(10))
    client.isAwake = false
    client.setFocus((200, 200))
    #expect(!client.isAwake)
    client.setFocus((390, 200))
    #expect(client.isAwake)
    client.refresh(entities, makeConfiguration(), at: Tick(15))
    #expect(client.seen.map(\.id) == [0])
    client.refresh(entities, makeConfiguration(), at: Tick(16))
    #expect(client.seen.map(\.id) == [1])
    client.setFocus(nil)
    client.refresh(entities, makeConfiguration(), at: Tick(17))
    #expect(client.seen.map(\.id) == [0, 1] && client.seen.map(\.interval) == [1, 1])
  }

  @Test func `a change concerns a client that sees the entity, or is about to see it`() {
    var (entities, client) = makeClient([0, 80, 81, 100])
    let configuration = makeConfiguration()
    client.refresh(entities, configuration, at: Tick(10))
    func concerns(_ entities: WorldEntities) -> [Bool] {
      (0..<4).map { client.concerns($0, entities, configuration) }
    }
    #expect(concerns(entities) == [true, true, false, false])
    entities.set(3, [0, 200, 280])
    entities.set(1, [0, 400, 400])
    #expect(concerns(entities) == [true, true, false, true])
    _ = entities.remove(0)
    _ = entities.remove(3)
    #expect(concerns(entities) == [true, true, false, false])
    let everywhere = WorldClient(configuration)
    #expect((0..<4).allSatisfy { everywhere.concerns($0, entities, configuration) })
  }

  // MARK: Sending in parts

  @Test func `entities that wait longest are sent first, and new ones before known ones`() throws {
    let schema = EntitySchema(.integer(0...60_000), .integer(0...60_000))
    var world = WorldReplicator(WorldConfiguration(schema: schema, snapshotLimit: 64))
    var receiver = SnapshotReceiver(schema: schema)
    let client = world.addClient()
    var generator = SeededGenerator(seed: 5)
    var gaps: [Int64] = []
    for tick in 1...200 as ClosedRange<UInt64> {
      let new: Range<UInt32> = tick == 150 ? 100..<103 : 0..<0
      for id in Array(0..<40) + Array(new) {
        let values = (0..<2).map { _ in Int64.random(in: 0...60_000, using: &generator) }
        world.set(id, values: values)
      }
      world.advance(to: Tick(tick))
      let isWritten = world.writeSnapshot(for: client)
      #expect(isWritten && world.snapshot(for: client).count <= 64)
      try receiver.receive(world.snapshot(for: client).span)
      world.acknowledge(receiver.acknowledgement, from: client)
      if tick == 155 { #expect(receiver.entities.ids.suffix(3) == [100, 101, 102]) }
      guard tick > 60 else { continue }
      for (id, last) in zip(receiver.entities.ids, receiver.entityTicks) where id < 40 {
        gaps.append(last.distance(to: Tick(tick)))
      }
    }
    // About ten entities fit, so that each has its turn after four ticks or a few more.
    #expect(gaps.max() ?? 99 <= 8)
  }

  @Test func `entities with a longer interval have their turns less often in that proportion`()
    throws
  {
    let schema = EntitySchema(
      .integer(0...60_000), .position(0...100, step: 0.25), .position(0...100, step: 0.25))
    let area = InterestArea(
      [InterestTier(within: 10), InterestTier(within: 100, every: 4)], positionField: 1)
    var world = WorldReplicator(
      WorldConfiguration(schema: schema, area: area, snapshotLimit: 64))
    var receiver = SnapshotReceiver(schema: schema)
    let client = world.addClient()
    world.setFocus(x: 0, y: 0, for: client)
    var generator = SeededGenerator(seed: 5)
    // The sums of the ticks until the next snapshot since each near and each far entity was sent.
    var gaps: [Int64] = [0, 0]
    for tick in 1...400 as ClosedRange<UInt64> {
      for id in UInt32(0)..<80 {
        let place: Int64 = id < 40 ? 4 : 200
        world.set(id, values: [.random(in: 0...60_000, using: &generator), place, place])
      }
      world.advance(to: Tick(tick))
      let isWritten = world.writeSnapshot(for: client)
      #expect(isWritten)
      try receiver.receive(world.snapshot(for: client).span)
      world.acknowledge(receiver.acknowledgement, from: client)
      guard tick > 100 else { continue }
      for (id, last) in zip(receiver.entities.ids, receiver.entityTicks) {
        gaps[id < 40 ? 0 : 1] += last.distance(to: Tick(tick)) + 1
      }
    }
    // The snapshots have no room for all near entities, which are due in every tick, and fewer
    // than a quarter of the far ones. All are late by the same multiple of their interval.
    let ratio = Double(gaps[1]) / Double(gaps[0])
    #expect((3...5).contains(ratio), "\(gaps)")
  }

  @Test func `numbers are sorted in place, whatever their order and count`() {
    var generator = SeededGenerator(seed: 3)
    for count in [0, 1, 2, 3, 10, 100, 1_000] {
      let numbers = (0..<count).map { _ in UInt64.random(in: 0...500, using: &generator) }
      for order in [numbers, numbers.sorted(), numbers.sorted(by: >)] {
        var sorted = order
        sorted.sortInPlace()
        #expect(sorted == numbers.sorted())
      }
    }
  }
}
