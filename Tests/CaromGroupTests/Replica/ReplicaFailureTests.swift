import CaromCore
import Testing

@testable import CaromGroup

/// What a group survives: at every step of a run, something happens to it, and afterwards it has
/// one leader, one roster and one history, in which nothing is missing or doubled.
@Suite struct ReplicaFailureTests {
  /// The seeds of the runs: one, or as many as `CAROM_SEEDS` says.
  private static let seeds = TestSeeds.first(1)

  /// The time within which a group has one leader again.
  private static let limit = Duration.seconds(5)

  /// A group that forms while its members submit events.
  private static func makeWorld(_ count: Int, seed: UInt64, loss: Double = 0) -> ReplicaWorld {
    let world = ReplicaWorld(seed: seed)
    world.conditions.loss = loss
    for _ in 0..<count { world.add() }
    for side in 0..<count { world.connect(side, within: .milliseconds(300)) }
    for round in 0..<4 {
      for side in 0..<count {
        world.at(.milliseconds(Int64(250 * round + 20 * side))) { $0.submit(side) }
      }
    }
    return world
  }

  /// The number of steps until a group has formed and applied everything.
  private static func stepCount(_ count: Int, seed: UInt64) -> Int {
    let world = makeWorld(count, seed: seed)
    world.run(for: .milliseconds(1_500))
    return world.step
  }

  /// Lets `interfere` happen at the steps of a run, one run for each, and expects the group to
  /// agree within the time limit after `delay`.
  private static func interfere(
    _ count: Int, seed: UInt64, agreeingAfter delay: Duration = .zero,
    _ interfere: @escaping (ReplicaWorld) -> Void
  ) {
    for step in stride(from: 1, through: stepCount(count, seed: seed), by: TestSeeds.stepStride) {
      let world = makeWorld(count, seed: seed)
      var begin: Instant?
      world.interference = (
        step,
        { world in
          begin = world.now
          interfere(world)
        }
      )
      world.run(for: .seconds(2)) { _ in begin != nil }
      guard let begin else {
        Issue.record("step \(step) was not reached")
        return
      }
      world.run(until: begin + delay)
      let isUnited = world.run(for: Self.limit) { $0.isUnited }
      #expect(isUnited, "step \(step)")
      for side in world.alive { world.submit(side) }
      world.run(for: .seconds(4))
      #expect(world.isUnited, "step \(step)")
      #expect(world.faults == [], "step \(step)")
      guard isUnited, world.isUnited, world.faults == [] else { return }
    }
  }

  /// The side that leads, or the first one if none does.
  private static func leader(of world: ReplicaWorld) -> Int {
    let id = world.sides.lazy.compactMap(\.leader).first
    return world.alive.first { world.sides[$0].replica.local.id == id } ?? world.alive[0]
  }

  @Test(arguments: [true, false], seeds)
  func `the leader ends at any step`(isSilent: Bool, seed: UInt64) {
    Self.interfere(4, seed: seed) { world in
      world.kill(Self.leader(of: world), isSilent: isSilent)
    }
  }

  @Test(arguments: [true, false], seeds)
  func `two leaders end, one after the other`(isSilent: Bool, seed: UInt64) {
    Self.interfere(5, seed: seed, agreeingAfter: .seconds(1)) { world in
      world.kill(Self.leader(of: world), isSilent: isSilent)
      world.schedule(
        .action { $0.kill(Self.leader(of: $0), isSilent: isSilent) }, after: .seconds(1))
    }
  }

  @Test(arguments: [2, 8, 20], seeds)
  func `the network is cut in two at any step, and heals`(seconds: Int, seed: UInt64) {
    Self.interfere(5, seed: seed, agreeingAfter: .seconds(seconds)) { world in
      let leader = Self.leader(of: world)
      world.cut([leader, (leader + 1) % 5])
      for side in 0..<5 {
        world.schedule(.action { $0.submit(side) }, after: .milliseconds(900))
        world.schedule(.action { $0.submit(side) }, after: .seconds(seconds) - .milliseconds(100))
      }
      world.schedule(.action { $0.heal() }, after: .seconds(seconds))
    }
  }

  @Test(arguments: seeds)
  func `a side comes at any step`(seed: UInt64) {
    Self.interfere(4, seed: seed) { world in
      let side = world.add()
      world.connect(side)
      world.schedule(.action { $0.submit(side) }, after: .milliseconds(10))
    }
  }

  @Test(arguments: seeds)
  func `a leader hands the group over at any step`(seed: UInt64) {
    Self.interfere(4, seed: seed) { world in
      let leader = Self.leader(of: world)
      let id = world.sides[(leader + 1) % 4].replica.local.id
      _ = world.handOver(leader, to: id)
    }
  }

  @Test(arguments: TestSeeds.first(4))
  func `what a leader has applied stands after its end, in its order, under constant load`(
    seed: UInt64
  ) throws {
    let world = ReplicaWorld(seed: seed)
    for _ in 0..<4 { world.add() }
    for side in 0..<4 { world.connect(side) }
    for tick in 0..<500 {
      for side in 0..<4 { world.at(.milliseconds(Int64(5 * tick + side))) { $0.submit(side) } }
    }
    // The first leader ends while all others are about to receive entries from the next one.
    world.run(for: .milliseconds(900))
    let first = Self.leader(of: world)
    world.kill(first, isSilent: false)
    world.run(for: .milliseconds(700))
    let second = Self.leader(of: world)
    world.kill(second, isSilent: false)
    world.run(for: Self.limit)
    #expect(world.isUnited)
    #expect(world.faults == [])
    let left = world.sides[try #require(world.alive.first)].checker.history
    for side in [first, second] {
      let history = world.sides[side].checker.history
      #expect(history.count > 100)
      // Not the histories themselves, which are long.
      let stands = left.starts(with: history)
      #expect(stands)
    }
  }
}
