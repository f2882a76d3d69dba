import CaromCore
import CaromProtocol
import Testing

@testable import CaromGroup

@Suite struct MeshTests {
  @Test(arguments: 0..<200 as Range<UInt64>)
  func `two that start at the same moment end with one connection`(seed: UInt64) {
    var world = GroupWorld(seed: seed)
    _ = world.add()
    _ = world.add()
    let isMeshed = world.run(for: .seconds(3)) { $0.isMeshed }
    #expect(isMeshed)
    _ = world.run(for: .seconds(20))
    let isStillMeshed = world.isMeshed
    #expect(isStillMeshed)
    let (links, joins) = (world.openLinks(0, 1), world.joinCount)
    #expect(links == 1)
    #expect(joins == 2)
  }

  @Test(arguments: 0..<30 as Range<UInt64>)
  func `eight that start within a second are meshed within three`(seed: UInt64) {
    var world = GroupWorld(seed: seed)
    for _ in 0..<8 { _ = world.add(startingWithin: .seconds(1)) }
    let isMeshed = world.run(for: .seconds(3)) { $0.isMeshed }
    #expect(isMeshed)
    _ = world.run(for: .seconds(20))
    let isStillMeshed = world.isMeshed
    #expect(isStillMeshed)
    let (counts, joins) = (world.linkCounts, world.joinCount)
    #expect(counts == [1])
    #expect(joins == 8 * 7)
  }

  @Test(arguments: [true, false])
  func `one that is not seen by the other is connected to it all the same`(seesLower: Bool) {
    for seed in 0..<50 as Range<UInt64> {
      var world = GroupWorld(seed: seed)
      _ = world.add()
      _ = world.add()
      let lower = world.ids[0] < world.ids[1] ? 0 : 1
      let blind = seesLower ? lower : 1 - lower
      world.conditions.blind = [GroupWorld.Pair(from: blind, to: 1 - blind)]
      let isMeshed = world.run(for: .seconds(3)) { $0.isMeshed }
      #expect(isMeshed)
    }
  }

  @Test func `attempts are repeated after growing delays, or not at all with a wrong code`() {
    for (reason, counts) in [(DisconnectReason.timedOut, 10...40), (.wrongCode, 2...2)] {
      var world = GroupWorld(seed: 5)
      world.conditions.dialLoss = 1
      world.conditions.dialFailure = (reason, .milliseconds(100))
      _ = world.add()
      _ = world.add()
      _ = world.run(for: .seconds(300))
      let dials = world.dialCount
      #expect(counts.contains(dials))
    }
  }

  @Test(arguments: 0..<30 as Range<UInt64>)
  func `failing attempts and breaking connections end in a mesh`(seed: UInt64) {
    var world = GroupWorld(seed: seed)
    world.conditions.dialLoss = 0.3
    world.conditions.breakage = 0.2
    world.conditions.delay = .milliseconds(5)...Duration.milliseconds(800)
    for _ in 0..<5 { _ = world.add(startingWithin: .seconds(1)) }
    _ = world.run(for: .seconds(60))
    world.conditions.dialLoss = 0
    world.conditions.breakage = 0
    let isMeshed = world.run(for: .seconds(120)) { $0.isMeshed }
    #expect(isMeshed)
    _ = world.run(for: .seconds(60))
    let isStillMeshed = world.isMeshed
    #expect(isStillMeshed)
    let counts = world.linkCounts
    #expect(counts == [1])
  }
}
