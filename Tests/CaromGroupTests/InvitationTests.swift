import CaromCore
import CaromProtocol
import Testing

@testable import CaromGroup

@Suite struct InvitationTests {
  /// Two sides that see each other and join nobody by themselves; the first has the lower id.
  private func makePair(seed: UInt64 = 1) -> (world: GroupWorld, lower: Int, higher: Int) {
    var world = GroupWorld(seed: seed)
    var options = Mesh.Options()
    options.joinsEveryone = false
    _ = world.add(options)
    _ = world.add(options)
    _ = world.run(for: .seconds(1))
    return world.ids[0] < world.ids[1] ? (world, 0, 1) : (world, 1, 0)
  }

  private func invite(
    _ world: inout GroupWorld, from side: Int, to other: Int, context: [UInt8] = [],
    within limit: Duration = .seconds(30)
  ) -> UInt32? {
    var number: UInt32?
    world.act(side) {
      number = $0.invite($2[other], context: context, timeout: limit, at: $1)
    }
    return number
  }

  private func answer(
    _ world: inout GroupWorld, by side: Int, accepting isAccepted: Bool
  ) -> Bool {
    guard case .invited(let peer, let number, _)? = world.events[side].last else { return false }
    var isOpen = false
    world.act(side) { group, now, _ in
      isOpen = group.answer(peer, number: number, accepting: isAccepted, at: now)
    }
    return isOpen
  }

  @Test(arguments: [true, false])
  func `an accepted invitation joins both sides, from either side`(isFromLower: Bool) {
    var (world, lower, higher) = makePair()
    let (from, to) = isFromLower ? (lower, higher) : (higher, lower)
    let number = invite(&world, from: from, to: to, context: [1, 2, 3])
    _ = world.run(for: .seconds(1))
    #expect(world.events[to] == [.invited(world.ids[from], number: 1, context: [1, 2, 3])])
    #expect(world.joined[from].isEmpty)
    let isOpen = answer(&world, by: to, accepting: true)
    #expect(isOpen)
    _ = world.run(for: .seconds(1))
    let isMeshed = world.isMeshed
    #expect(isMeshed)
    #expect(number == 1)
    #expect(world.events[from].last == .ended(world.ids[to], number: 1, .accepted))
    let isOpenAgain = answer(&world, by: to, accepting: true)
    #expect(!isOpenAgain)
    _ = world.run(for: .seconds(60))
    let isStillMeshed = world.isMeshed
    #expect(isStillMeshed)
  }

  @Test func `a declined invitation ends, and its connection as well`() {
    var (world, lower, higher) = makePair()
    _ = invite(&world, from: lower, to: higher)
    _ = world.run(for: .seconds(1))
    let isOpen = answer(&world, by: higher, accepting: false)
    #expect(isOpen)
    _ = world.run(for: .seconds(1))
    #expect(world.events[lower] == [.ended(world.ids[higher], number: 1, .declined)])
    let links = world.openLinks(0, 1)
    #expect(links == 0)
  }

  @Test func `an invitation without an answer times out, and can no longer be answered`() {
    var (world, lower, higher) = makePair()
    _ = invite(&world, from: lower, to: higher, within: .seconds(5))
    _ = world.run(for: .seconds(4))
    #expect(world.events[lower].isEmpty)
    _ = world.run(for: .seconds(2))
    #expect(world.events[lower] == [.ended(world.ids[higher], number: 1, .timedOut)])
    #expect(world.events[higher].last == .withdrawn(world.ids[lower], number: 1))
    let links = world.openLinks(0, 1)
    #expect(links == 0)
  }

  @Test func `a second invitation to the same peer is busy, and disturbs nothing`() {
    var (world, lower, higher) = makePair()
    _ = invite(&world, from: lower, to: higher)
    let second = invite(&world, from: lower, to: higher)
    #expect(second == nil)
    _ = world.run(for: .seconds(1))
    _ = answer(&world, by: higher, accepting: true)
    _ = world.run(for: .seconds(1))
    // Once joined, a further invitation is accepted without a question.
    let third = invite(&world, from: higher, to: lower)
    let isMeshed = world.isMeshed
    #expect(isMeshed)
    #expect(third == 1)
    #expect(world.events[higher].last == .ended(world.ids[lower], number: 1, .accepted))
    let joins = world.joinCount
    #expect(joins == 2)
  }

  @Test(arguments: 0..<50 as Range<UInt64>)
  func `two that invite each other at the same time join once`(seed: UInt64) {
    var (world, lower, higher) = makePair(seed: seed)
    _ = invite(&world, from: lower, to: higher)
    _ = world.run(for: .milliseconds(Int64(seed)))
    _ = invite(&world, from: higher, to: lower)
    _ = world.run(for: .seconds(2))
    // If the first invitation had arrived before the second was made, it is still a question.
    if world.joinCount == 0 { _ = answer(&world, by: higher, accepting: true) }
    _ = world.run(for: .seconds(2))
    let (isMeshed, joins) = (world.isMeshed, world.joinCount)
    #expect(isMeshed)
    #expect(joins == 2)
    #expect(world.events[lower].contains(.ended(world.ids[higher], number: 1, .accepted)))
    #expect(world.events[higher].contains(.ended(world.ids[lower], number: 1, .accepted)))
  }

  @Test(arguments: 0..<100 as Range<UInt64>)
  func `both sides agree whether an answer was in time`(seed: UInt64) {
    var (world, lower, higher) = makePair(seed: seed)
    _ = invite(&world, from: lower, to: higher, within: .milliseconds(500))
    // Near the time limit: sometimes before it, sometimes after it.
    _ = world.run(for: .milliseconds(400 + Int64(seed)))
    _ = answer(&world, by: higher, accepting: true)
    _ = world.run(for: .seconds(30))
    let isAccepted = world.events[lower].contains(.ended(world.ids[higher], number: 1, .accepted))
    let (isMeshed, joins) = (world.isMeshed, world.joinCount)
    #expect(isMeshed == isAccepted)
    #expect(joins == (isAccepted ? 2 : 0))
  }

  @Test func `a cancelled invitation is withdrawn`() {
    var (world, lower, higher) = makePair()
    _ = invite(&world, from: lower, to: higher)
    _ = world.run(for: .seconds(1))
    world.act(lower) { $0.cancelInvitation($2[higher], number: 1, at: $1) }
    _ = world.run(for: .seconds(1))
    #expect(world.events[lower] == [.ended(world.ids[higher], number: 1, .cancelled)])
    #expect(world.events[higher].last == .withdrawn(world.ids[lower], number: 1))
  }

  @Test func `an invitation waits for a connection, and times out without one`() {
    var (world, lower, higher) = makePair()
    world.conditions.dialLoss = 1
    _ = invite(&world, from: lower, to: higher)
    _ = world.run(for: .seconds(31))
    #expect(world.events[lower] == [.ended(world.ids[higher], number: 1, .timedOut)])
    #expect(world.events[higher].isEmpty)
  }

  @Test func `a peer that joins everyone accepts one that does not`() {
    var world = GroupWorld(seed: 3)
    var options = Mesh.Options()
    options.joinsEveryone = false
    let asking = world.add(options)
    let everyone = world.add()
    _ = world.run(for: .seconds(5))
    // It invites the other side, whose application is asked.
    #expect(world.events[asking] == [.invited(world.ids[everyone], number: 1, context: [])])
    let isOpen = answer(&world, by: asking, accepting: true)
    #expect(isOpen)
    _ = world.run(for: .seconds(1))
    let isMeshed = world.isMeshed
    #expect(isMeshed)
  }

  @Test func `a peer that is disconnected is not connected to again`() {
    var world = GroupWorld(seed: 4)
    _ = world.add()
    _ = world.add()
    _ = world.run(for: .seconds(3))
    world.act(0) { $0.disconnect($2[1], Goodbye(.kicked, text: "enough"), at: $1) }
    _ = world.run(for: .seconds(60))
    #expect(world.events[0].last == .left(world.ids[1], .closedLocally))
    #expect(world.events[1].last == .left(world.ids[0], .kicked("enough")))
    let joins = world.joinCount
    #expect(joins == 2)
  }
}
