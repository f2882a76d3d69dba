import CaromCore
import Testing

@testable import CaromSimulation

@Suite struct InterestTests {
  private static let schema = EntitySchema(
    .integer(0...9), .position(0...100, step: 0.25), .position(0...100, step: 0.25))

  private struct Viewer {
    var world: WorldReplicator
    var receiver = SnapshotReceiver(schema: InterestTests.schema)
    let id: WorldReplicator.ClientID
    private(set) var tick = Tick.zero

    init(_ configuration: WorldConfiguration) {
      world = WorldReplicator(configuration)
      id = world.addClient()
    }

    /// Advances by one tick, and delivers the snapshot and its acknowledgement. Returns whether
    /// there was a snapshot.
    @discardableResult
    mutating func step() throws -> Bool {
      tick = tick.next
      world.advance(to: tick)
      guard world.writeSnapshot(for: id) else { return false }
      try receiver.receive(world.snapshot(for: id).span)
      world.acknowledge(receiver.acknowledgement, from: id)
      return true
    }
  }

  private func makeViewer(_ tiers: [InterestTier], refreshInterval: Int = 6) -> Viewer {
    Viewer(
      WorldConfiguration(
        schema: Self.schema,
        area: InterestArea(tiers, positionField: 1, refreshInterval: refreshInterval)))
  }

  @Test func `without a focus a client receives every entity, with one those within the radius`()
    throws
  {
    var viewer = makeViewer([InterestTier(within: 10)], refreshInterval: 1)
    // At 40, 41 and 39 steps from (50, 50), and along the diagonal at 39.6 and 41.0 steps.
    let places: [(UInt32, Int64, Int64)] = [
      (1, 240, 200), (2, 241, 200), (3, 200, 161), (4, 228, 172), (5, 229, 229), (6, 0, 400),
    ]
    for (id, x, y) in places { viewer.world.set(id, values: [3, x, y]) }
    #expect(viewer.world.count == 6)
    try viewer.step()
    #expect(viewer.receiver.entities.ids == [1, 2, 3, 4, 5, 6])
    viewer.world.setFocus(x: 50, y: 50, for: viewer.id)
    try viewer.step()
    // An entity that is visible stays so up to 1.05 times the radius, which is 42 steps.
    #expect(viewer.receiver.entities.ids == [1, 2, 3, 4, 5])
    var fresh = makeViewer([InterestTier(within: 10)], refreshInterval: 1)
    fresh.world.setFocus(x: 50, y: 50, for: fresh.id)
    for (id, x, y) in places { fresh.world.set(id, values: [3, x, y]) }
    try fresh.step()
    #expect(fresh.receiver.entities.ids == [1, 3, 4])
    // 42 steps away it stays, 43 it leaves, and it comes back only within 40.
    for (x, isVisible) in [(242, true), (243, false), (242, false), (241, false), (240, true)] {
      fresh.world.set(1, values: [3, Int64(x), 200])
      try fresh.step()
      #expect(fresh.receiver.entities.ids.contains(1) == isVisible)
    }
  }

  @Test func `entities enter and leave when the next search is due`() throws {
    var viewer = makeViewer([InterestTier(within: 10)], refreshInterval: 4)
    viewer.world.setFocus(x: 50, y: 50, for: viewer.id)
    viewer.world.set(1, values: [0, 200, 200])
    viewer.world.set(2, values: [0, 0, 0])
    var seen: [[UInt32]] = []
    for tick in 1...9 {
      if tick == 2 { viewer.world.set(2, values: [0, 201, 200]) }
      if tick == 6 { viewer.world.set(2, values: [0, 0, 0]) }
      try viewer.step()
      seen.append(viewer.receiver.entities.ids)
    }
    #expect(seen == [[1], [1], [1], [1], [1, 2], [1, 2], [1, 2], [1, 2], [1]])
  }

  @Test func `an entity is sent as often as its tier says`() throws {
    var viewer = makeViewer([
      InterestTier(within: 5), InterestTier(within: 10, every: 2),
      InterestTier(within: 20, every: 6),
    ])
    viewer.world.setFocus(x: 50, y: 50, for: viewer.id)
    let places: [(UInt32, Int64)] = [(1, 200), (2, 180), (3, 179), (4, 160), (5, 159), (6, 120)]
    var counts: [UInt32: Int] = [:]
    for tick in 0..<61 {
      for (id, x) in places { viewer.world.set(id, values: [Int64(tick % 10), x, 200]) }
      try viewer.step()
      for (index, id) in viewer.receiver.entities.ids.enumerated()
      where tick > 0 && viewer.receiver.entityTicks[index] == viewer.tick {
        counts[id, default: 0] += 1
      }
    }
    // The edges of the tiers are at 20, 40 and 80 steps, and belong to the inner tier.
    #expect(counts == [1: 60, 2: 60, 3: 30, 4: 30, 5: 10, 6: 10])
  }

  @Test func `the interval is that of the first tier that contains the place`() {
    let area = InterestArea([
      InterestTier(within: 5), InterestTier(within: 10, every: 2),
      InterestTier(within: 20, every: 6),
    ])
    #expect(area.radius == 20 && area.positionField == 0 && area.refreshInterval == 6)
    let intervals = [0, 400, 400.1, 1_600, 1_600.1, 6_400, 9_999].map {
      area.interval(squared: $0, step: 0.25)
    }
    #expect(intervals == [1, 1, 2, 2, 6, 6, 6])
    #expect(InterestArea(within: 7).tiers == [InterestTier(within: 7, every: 1)])
  }

  @Test func `a change outside the area wakes no client, one inside it does`() throws {
    var viewer = makeViewer([InterestTier(within: 10)], refreshInterval: 1)
    viewer.world.setFocus(x: 50, y: 50, for: viewer.id)
    viewer.world.set(1, values: [0, 200, 200])
    viewer.world.set(2, values: [0, 0, 0])
    for _ in 0..<4 { try viewer.step() }
    #expect(viewer.world.clients[0]?.isAwake == false)
    viewer.world.set(1, values: [0, 200, 200])
    viewer.world.set(2, values: [5, 1, 1])
    #expect(try viewer.step() == false)
    #expect(viewer.world.clients[0]?.isAwake == false)
    viewer.world.set(2, values: [5, 240, 200])
    #expect(try viewer.step() == true)
    #expect(viewer.receiver.entities.ids == [1, 2])
    for _ in 0..<3 { try viewer.step() }
    #expect(viewer.world.remove(7) == false)
    #expect(viewer.world.remove(1) == true)
    #expect(viewer.world.remove(1) == false)
    #expect(viewer.world.count == 1)
    #expect(try viewer.step() == true)
    #expect(viewer.receiver.entities.ids == [2])
    viewer.world.setFocus(x: 50, y: 50, for: viewer.id)
    for _ in 0..<3 { try viewer.step() }
    #expect(viewer.world.clients[0]?.isAwake == false)
  }

  @Test func `the grid finds all entities within a distance, at the edges of the area too`() {
    var generator = SeededGenerator(seed: 6)
    let field = EntityField(-100...1_000)
    var grid = InterestGrid(x: field, y: field, cellSize: 37)
    var places: [Int: (x: Int64, y: Int64)] = [:]
    for _ in 0..<600 {
      let slot = Int.random(in: 0..<60, using: &generator)
      if generator.chance(0.2) {
        places[slot] = nil
        grid.remove(slot)
      } else {
        let place = (
          x: Int64.random(in: -100...1_000, using: &generator),
          y: Int64.random(in: -100...1_000, using: &generator)
        )
        places[slot] = place
        grid.place(slot, x: place.x, y: place.y)
      }
      let x = Int64.random(in: -300...1_200, using: &generator)
      let y = Int64.random(in: -300...1_200, using: &generator)
      let radius = Int64.random(in: 0...400, using: &generator)
      var found: [Int32] = []
      grid.gather(x: x, y: y, radius: radius, into: &found)
      #expect(Set(found).count == found.count)
      #expect(found.allSatisfy { places[Int($0)] != nil })
      let near = places.filter { abs($0.value.x - x) <= radius && abs($0.value.y - y) <= radius }
      #expect(Set(near.keys).isSubset(of: found.map { Int($0) }))
      let wide = radius + 37
      #expect(
        found.allSatisfy {
          guard let place = places[Int($0)] else { return false }
          // The focus may lie outside the area; then the nearest cells count.
          let (cx, cy) = (min(max(x, -100), 1_000), min(max(y, -100), 1_000))
          return abs(place.x - cx) <= wide && abs(place.y - cy) <= wide
        })
    }
  }

  @Test func `moving within a cell is not another cell`() {
    let field = EntityField(0...99)
    var grid = InterestGrid(x: field, y: field, cellSize: 10)
    let moved = [(5, 5), (9, 9), (10, 9), (9, 10), (9, 10)].map {
      grid.place(3, x: Int64($0.0), y: Int64($0.1))
    }
    #expect(moved == [true, false, true, true, false])
    grid.remove(3)
    grid.remove(3)
    #expect(grid.place(3, x: 9, y: 10) == true)
  }

  @Test func `the most urgent comes first, and of equals the first`() {
    var queue = PriorityAccumulator()
    for (place, gained) in [(0, 3), (1, 9), (2, 0), (3, 9), (4, 5), (5, .max), (6, -4)] {
      queue.append(place, gained: gained)
    }
    queue.sort()
    #expect((0..<7).map { queue[$0] } == [5, 1, 3, 4, 0, 2, 6])
    queue.removeAll()
    queue.append(9, gained: 1)
    #expect(queue[0] == 9)
    var generator = SeededGenerator(seed: 2)
    for count in [0, 1, 2, 3, 10, 100, 1_000] {
      var words = (0..<count).map { _ in generator.next() }
      let sorted = words.sorted()
      words.sortInPlace()
      #expect(words == sorted)
    }
  }
}
