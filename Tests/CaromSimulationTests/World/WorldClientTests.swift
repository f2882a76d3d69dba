import CaromCore
import Testing

@testable import CaromSimulation

@Suite struct WorldClientTests {
  private static let schema = EntitySchema(
    .position(0...100, step: 0.01), .position(0...100, step: 0.01))

  @Test func `the id of a removed client does nothing, even after its place was taken again`() {
    var world = WorldReplicator(WorldConfiguration(schema: Self.schema))
    let old = world.addClient()
    world.removeClient(old)
    let new = world.addClient()
    world.set(1, values: [10, 10])
    world.advance(to: Tick(1))
    let written = [old, new].map { world.writeSnapshot(for: $0) }
    #expect(written == [false, true])
    #expect(world.snapshot(for: old).isEmpty)
    #expect(world.sentTick(of: old) == nil)
    world.removeClient(old)
    #expect(world.sentTick(of: new) == Tick(1))
  }

  @Test func `a removed entity disappears in the next tick, even if another takes its slot`() throws
  {
    let area = InterestArea([InterestTier(within: 10)], refreshInterval: 6)
    var world = WorldReplicator(WorldConfiguration(schema: Self.schema, area: area))
    var receiver = SnapshotReceiver(schema: Self.schema)
    let client = world.addClient()
    world.setFocus(x: 50, y: 50, for: client)
    world.set(1, values: [5_000, 5_000])
    world.advance(to: Tick(1))
    _ = world.writeSnapshot(for: client)
    try receiver.receive(world.snapshot(for: client).span)
    #expect(receiver.entities.ids == [1])
    world.acknowledge(Tick(1), from: client)
    world.remove(1)
    world.set(2, values: [0, 0])  // outside the area
    world.advance(to: Tick(2))
    let isWritten = world.writeSnapshot(for: client)
    #expect(isWritten)
    try receiver.receive(world.snapshot(for: client).span)
    #expect(receiver.entities.ids.isEmpty)
  }
}
