import CaromCore
import Testing

@testable import CaromGroup

@Suite struct ReplicaTests {
  /// Lets each side submit an event in each round. Rounds begin every 300 ms.
  private static func submit(_ rounds: Int, in world: ReplicaWorld) {
    for round in 0..<rounds {
      for side in world.sides.indices {
        world.at(.milliseconds(Int64(300 * round))) { $0.submit(side) }
      }
    }
  }

  @Test(arguments: [2, 8, 32], TestSeeds.first(2))
  func `sides that meet have one leader, one roster and one order of events`(
    count: Int, seed: UInt64
  ) {
    let world = ReplicaWorld(seed: seed)
    for _ in 0..<count { world.add() }
    for side in 0..<count { world.connect(side, within: .milliseconds(500)) }
    Self.submit(5, in: world)
    #expect(world.run(for: .seconds(5)) { $0.isUnited })
    world.run(for: .seconds(5))
    #expect(world.isUnited)
    #expect(world.faults == [])
    #expect(world.sides[0].checker.history.count == 5 * count)
  }

  @Test func `a group of 64 has one leader and one roster, and the next leader within 5 seconds`() {
    let world = ReplicaWorld(seed: 4)
    for _ in 0..<64 { world.add() }
    for side in 0..<64 { world.connect(side, within: .seconds(1)) }
    #expect(world.run(for: .seconds(10)) { $0.isUnited })
    world.submit(7)
    world.run(for: .seconds(1))
    guard let leader = world.leader else {
      Issue.record("there is no leader")
      return
    }
    world.kill(leader, isSilent: false)
    #expect(world.run(for: .seconds(5)) { $0.isUnited })
    #expect(world.faults == [])
  }

  @Test(arguments: TestSeeds.first(3))
  func `messages that are lost and sent again change nothing`(seed: UInt64) {
    let world = ReplicaWorld(seed: seed)
    world.conditions.loss = 0.2
    for _ in 0..<8 { world.add() }
    for side in 0..<8 { world.connect(side, within: .milliseconds(500)) }
    Self.submit(10, in: world)
    #expect(world.run(for: .seconds(5)) { $0.isUnited })
    world.run(for: .seconds(5))
    #expect(world.isUnited && world.faults == [])
    #expect(world.sides[0].checker.history.count == 80)
  }

  @Test(arguments: TestSeeds.first(8))
  func `a group that was handed over stays with its new leader`(seed: UInt64) throws {
    for heir in 0..<4 {
      let world = ReplicaWorld(seed: seed)
      for _ in 0..<4 { world.add() }
      for side in 0..<4 { world.connect(side) }
      #expect(world.run(for: .seconds(5)) { $0.isUnited })
      world.run(for: .seconds(1))
      let leader = try #require(world.leader)
      guard heir != leader else { continue }
      #expect(world.handOver(leader, to: world.sides[heir].replica.local.id))
      #expect(world.run(for: .seconds(5)) { $0.isUnited && $0.leader == heir })
      world.run(for: .seconds(5))
      #expect(world.leader == heir)
      #expect(world.faults == [])
    }
  }

  @Test(arguments: TestSeeds.first(3), [true, false])
  func `a group hears at once of a side that leaves it`(seed: UInt64, isLeader: Bool) throws {
    let world = ReplicaWorld(seed: seed)
    for _ in 0..<4 { world.add() }
    for side in 0..<4 { world.connect(side) }
    #expect(world.run(for: .seconds(5)) { $0.isUnited })
    world.run(for: .seconds(1))
    let leader = try #require(world.leader)
    let leaver = isLeader ? leader : (leader + 1) % 4
    world.leave(leaver)
    #expect(world.run(for: .milliseconds(500)) { $0.isUnited })
    #expect(world.faults == [])
    // It comes again as a new member, over the same connections.
    world.enter(leaver)
    #expect(world.run(for: .seconds(5)) { $0.isUnited })
    world.submit(leaver)
    world.run(for: .seconds(1))
    #expect(world.isUnited && world.faults == [])
  }

  @Test func `all rosters are equal within a round trip and 100 ms of a change`() {
    let world = ReplicaWorld(seed: 5)
    for _ in 0..<4 { world.add() }
    for side in 0..<4 { world.connect(side) }
    world.run(for: .seconds(5)) { $0.isUnited }
    world.run(for: .seconds(1))
    let end = world.now
    guard let leader = world.leader else {
      Issue.record("there is no leader")
      return
    }
    world.kill((leader + 1) % 4, isSilent: false)
    #expect(world.run(for: .milliseconds(160)) { $0.isUnited })
    #expect(world.now - end <= .milliseconds(160))
  }

  @Test(arguments: TestSeeds.first(3))
  func `who sees all others leads those who do not see each other`(seed: UInt64) {
    let world = ReplicaWorld(seed: seed)
    for _ in 0..<3 { world.add() }
    world.open(ReplicaWorld.Pair(0, 1))
    world.open(ReplicaWorld.Pair(1, 2))
    Self.submit(3, in: world)
    #expect(world.run(for: .seconds(10)) { $0.isUnited })
    #expect(world.leader == 1)
    world.run(for: .seconds(5))
    #expect(world.isUnited && world.faults == [])
  }

  @Test func `a late joiner gets the state from a snapshot once the first entries are gone`() {
    let world = ReplicaWorld(seed: 6)
    world.options.keptEntries = 8
    for _ in 0..<3 { world.add() }
    for side in 0..<3 { world.connect(side) }
    Self.submit(20, in: world)
    world.run(for: .seconds(10))
    let late = world.add()
    world.connect(late)
    #expect(world.run(for: .seconds(5)) { $0.isUnited })
    world.run(for: .seconds(2))
    #expect(world.faults == [])
    #expect(world.sides[late].checker.history.count == 60)
    #expect(world.sides[late].checker.restoreCount == 1)
  }

  @Test func `events beyond the limit are refused, and accepted again once others are applied`() {
    let world = ReplicaWorld(seed: 7)
    for _ in 0..<2 { world.add() }
    world.connect(0)
    world.run(for: .seconds(3)) { $0.isUnited }
    guard let leader = world.leader else {
      Issue.record("there is no leader")
      return
    }
    let member = 1 - leader
    for _ in 0..<Replica.openLimit { world.submit(member) }
    #expect(world.sides[member].replica.submit([1], at: world.now) == nil)
    world.run(for: .seconds(1))
    #expect(world.sides[member].replica.submit([1], at: world.now) == 257)
  }
}
