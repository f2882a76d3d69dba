import CaromCore
import Testing

@testable import CaromGroup

/// Peers that say what is not true. They cost the group an election at most, never its state.
@Suite struct ReplicaLieTests {
  /// A group of four that has applied some events, and a fifth side that joins it, at first honest.
  private static func makeWorld() -> (world: ReplicaWorld, liar: Int) {
    let world = ReplicaWorld(seed: 9)
    for _ in 0..<4 { world.add() }
    for side in 0..<4 { world.connect(side) }
    for side in 0..<4 { world.at(.milliseconds(500)) { $0.submit(side) } }
    world.run(for: .seconds(3))
    let liar = world.add()
    world.connect(liar)
    world.run(for: .seconds(2))
    return (world, liar)
  }

  /// The histories of the honest sides, which are equal.
  private static func history(of world: ReplicaWorld) -> [AppliedEvent]? {
    let histories = Set((0..<4).map { world.sides[$0].checker.history })
    return histories.count == 1 ? histories.first : nil
  }

  @Test func `claims of followers and of a long log win nobody who has followers`() {
    let (world, liar) = Self.makeWorld()
    let before = Self.history(of: world)
    let id = world.sides[liar].replica.local.id
    let lie = Ballot(leader: id, followers: 8_192, reach: 8_192, length: 1 << 60)
    for side in 0..<4 { world.send(.ballot(lie), from: liar, to: side) }
    world.run(for: .seconds(3))
    #expect(Self.history(of: world) == before && before?.count == 4)
    let leaders = Set((0..<4).map { world.sides[$0].leader })
    #expect(leaders.count == 1 && leaders.first != .some(id))
  }

  @Test func `an entry that names another peer's event is refused by that peer`() {
    let (world, liar) = Self.makeWorld()
    guard let leader = world.leader, leader != liar else {
      Issue.record("the liar leads")
      return
    }
    let victim = (0..<4).first { $0 != leader } ?? 0
    let source = world.sides[victim].replica.local.source
    let forged = SubmittedEvent(source: source, sequence: 2, bytes: [66])
    guard case .following(let following) = world.sides[liar].replica.role else {
      Issue.record("the liar is no member")
      return
    }
    world.send(
      .ledger(.submit(membership: following.membership, isComplete: true, [forged])), from: liar,
      to: leader)
    world.run(for: .seconds(2))
    #expect(Self.history(of: world)?.contains { $0.bytes == [66] } == false)
    world.submit(victim)
    world.run(for: .seconds(1))
    #expect(Self.history(of: world)?.last?.source == source)
  }

  @Test func `a roster of somebody who does not lead ends that peer's connection alone`() {
    let (world, liar) = Self.makeWorld()
    guard let leader = world.leader, leader != liar else {
      Issue.record("the liar leads")
      return
    }
    let victim = (0..<4).first { $0 != leader } ?? 0
    guard let roster = world.sides[victim].roster else {
      Issue.record("there is no roster")
      return
    }
    let forged = Roster(
      version: roster.version + 9, leader: roster.leader, members: [roster.members[0]])
    world.send(.roster(forged), from: liar, to: victim)
    world.run(for: .milliseconds(200))
    #expect(world.sides[victim].violators == [liar])
    #expect(world.sides[victim].roster == roster)
    #expect(
      (0..<4).allSatisfy { world.sides[$0].hasPeers.isSuperset(of: Set(0..<4).subtracting([$0])) })
  }

  @Test
  func `acknowledgements of entries that were not sent, and parts without a snapshot, end it`() {
    let (world, liar) = Self.makeWorld()
    guard let leader = world.leader, leader != liar,
      case .following(let following) = world.sides[liar].replica.role
    else {
      Issue.record("the liar is no member")
      return
    }
    world.send(
      .ledger(.acknowledge(membership: following.membership, index: 1_000)), from: liar, to: leader)
    world.run(for: .seconds(1))
    #expect(world.sides[leader].violators == [liar])
    #expect(world.sides[leader].replica.members[world.sides[liar].replica.local.id] == nil)
  }

  @Test func `a member that acknowledges nothing holds up the others for six seconds at most`() {
    let (world, liar) = Self.makeWorld()
    world.isWithheld = { message, sender in
      guard sender == liar, case .ledger(.acknowledge) = message else { return false }
      return true
    }
    for side in 0..<4 { world.submit(side) }
    world.run(for: .seconds(4))
    #expect(Self.history(of: world)?.count == 4)
    world.run(for: .seconds(2))
    #expect(Self.history(of: world)?.count == 8)
    // It is a member again, and holds up nobody any more.
    for side in 0..<4 { world.submit(side) }
    world.run(for: .seconds(1))
    #expect(Self.history(of: world)?.count == 12)
  }
}
