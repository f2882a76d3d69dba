import CaromCore
import Testing

@testable import CaromGroup

/// Members that lie, or that are slow, hold up the others for a few seconds in all, not again and
/// again.
@Suite struct ReplicaHoldUpTests {
  /// A group of four honest sides, and a fifth one whose messages the test controls.
  private static func makeWorld() throws -> (world: ReplicaWorld, leader: Int, member: Int) {
    let world = ReplicaWorld(seed: 11)
    for _ in 0..<4 { world.add() }
    for side in 0..<4 { world.connect(side) }
    world.run(for: .seconds(3))
    let member = world.add()
    world.connect(member)
    world.run(for: .seconds(2))
    let leader = try #require(world.leader)
    try #require(leader != member && world.isUnited)
    return (world, leader, member)
  }

  /// Lets an honest side submit an event every 100 ms, and returns the time for which it has
  /// applied none.
  private static func stalledTime(
    of world: ReplicaWorld, for time: Duration, _ interfere: (Int) -> Void = { _ in }
  ) -> Duration {
    var stalled = Duration.zero
    for round in 0..<Int(time / .milliseconds(100)) {
      let before = world.sides[0].checker.index
      world.submit(0)
      interfere(round)
      world.run(for: .milliseconds(100))
      if world.sides[0].checker.index == before { stalled += .milliseconds(100) }
    }
    return stalled
  }

  /// Whether a member says with a message what it has received.
  private static func isAnswer(_ message: ReplicaMessage) -> Bool {
    switch message {
    case .ledger(.acknowledge), .ledger(.received): true
    default: false
    }
  }

  @Test func `a claim of many peers costs one election in half a minute`() throws {
    let (world, leader, liar) = try Self.makeWorld()
    var asks = 0
    world.isWithheld = { message, sender in
      if case .ledger(.join) = message, sender == leader { asks += 1 }
      guard sender == liar else { return false }
      // It sends nothing but the claims and acknowledgements.
      return switch message {
      case .ballot(let ballot): ballot.reach < 8_192
      case .ledger(.acknowledge): false
      default: true
      }
    }
    let claim = Ballot(
      leader: world.sides[leader].replica.local.id, followers: 0, reach: 8_192, length: 0)
    let stalled = Self.stalledTime(of: world, for: .seconds(28)) { _ in
      world.send(.ballot(claim), from: liar, to: leader)
    }
    #expect(asks == 1)
    #expect(stalled < .seconds(9))
  }

  @Test func `a leader that claims followers and does not answer is asked more and more rarely`() {
    let world = ReplicaWorld(seed: 12)
    let (alone, liar) = (world.add(), world.add())
    var asks = 0
    world.isWithheld = { message, sender in
      guard sender == liar else {
        if case .ledger(.join) = message { asks += 1 }
        return false
      }
      return if case .ledger = message { true } else { false }
    }
    world.connect(liar)
    let id = world.sides[liar].replica.local.id
    let claim = Ballot(leader: id, followers: 8_192, reach: 1, length: 1 << 60)
    for _ in 0..<600 {
      world.send(.ballot(claim), from: liar, to: alone)
      world.run(for: .milliseconds(100))
    }
    #expect((1...8).contains(asks))
  }

  @Test func `a member votes only when it has received the state`() throws {
    let world = ReplicaWorld(seed: 13, sidesWithHistory: 3)
    let leader = try #require(world.leader)
    let late = world.add()
    world.isWithheld = { message, sender in sender == late && Self.isAnswer(message) }
    world.connect(late)
    world.run(for: .seconds(2))
    guard case .following(let following) = world.sides[late].replica.role else {
      Issue.record("the late side is no member")
      return
    }
    let acknowledgement = LedgerMessage.acknowledge(
      membership: following.membership, index: world.sides[leader].replica.appliedIndex)
    world.isWithheld = { _, _ in false }
    world.send(.ledger(acknowledgement), from: late, to: leader)
    world.run(for: .seconds(1))
    #expect(world.sides[leader].violators == [late])
    #expect(Self.stalledTime(of: world, for: .seconds(5)) < .seconds(1))
  }

  @Test func `a member that does not read the state is removed`() throws {
    let world = ReplicaWorld(seed: 14, sidesWithHistory: 2)
    let late = world.add()
    var removals = 0
    world.isWithheld = { message, sender in
      if case .ledger(.remove) = message { removals += 1 }
      return sender == late && Self.isAnswer(message)
    }
    world.connect(late)
    world.run(for: .seconds(4))
    #expect(removals == 0)
    world.run(for: .seconds(3))
    #expect(removals == 1)
  }

  @Test func `one acknowledgement every five seconds does not keep a slow member`() throws {
    let (world, _, slow) = try Self.makeWorld()
    var last = Instant.zero
    world.isWithheld = { message, sender in
      guard sender == slow, case .ledger(.acknowledge) = message else { return false }
      guard last + .milliseconds(4_900) <= world.now else { return true }
      last = world.now
      return false
    }
    #expect(Self.stalledTime(of: world, for: .seconds(40)) < .seconds(14))
  }

  @Test func `a member that leaves and joins again and again holds up the others for seconds`()
    throws
  {
    let (world, _, member) = try Self.makeWorld()
    var answered: Set<UInt32> = []
    world.isWithheld = { message, sender in
      // It acknowledges what makes it count, and nothing after that.
      guard sender == member, case .ledger(.acknowledge(let membership, _)) = message else {
        return false
      }
      return !answered.insert(membership).inserted
    }
    let stalled = Self.stalledTime(of: world, for: .seconds(60)) { round in
      guard round % 9 == 8 else { return }
      world.leave(member)
      world.enter(member)
    }
    #expect(stalled < .seconds(15))
  }

  @Test func `a leader sends at most 256 entries that are not committed`() throws {
    let (world, leader, slow) = try Self.makeWorld()
    world.isWithheld = { message, sender in
      guard sender == slow, case .ledger(.acknowledge) = message else { return false }
      return true
    }
    let follower = try #require((0..<4).first { $0 != leader })
    for side in 0..<4 { for _ in 0..<200 { world.submit(side) } }
    world.run(for: .seconds(2))
    let (sender, receiver) = (world.sides[leader].replica, world.sides[follower].replica)
    #expect(sender.log.tailIndex - sender.appliedIndex == 800)
    #expect(receiver.log.tailIndex - receiver.appliedIndex == 256)
    world.run(for: .seconds(8))
    #expect(world.sides[follower].checker.index == 800)
  }

  @Test func `more entries than that end the connection with the leader`() throws {
    let (world, leader, _) = try Self.makeWorld()
    let follower = try #require((0..<4).first { $0 != leader })
    guard case .following(let following) = world.sides[follower].replica.role else {
      Issue.record("the side follows nobody")
      return
    }
    let source = EventSource(peer: PeerID(high: 1, low: 1), incarnation: 1)
    let entries = (1...257).map {
      LedgerEntry(
        index: $0, source: source, sequence: $0, voucher: source.peer, bytes: [], term: 1)
    }
    let message = LedgerMessage.append(
      membership: following.membership, first: 1, committed: 0, entries)
    world.send(.ledger(message), from: leader, to: follower)
    world.run(for: .seconds(1))
    #expect(world.sides[follower].violators == [leader])
  }

  @Test func `the application is asked for its state once a second at most`() throws {
    let world = ReplicaWorld(seed: 15, sidesWithHistory: 2)
    let late = world.add()
    world.connect(late)
    for _ in 0..<50 {
      world.run(for: .milliseconds(100))
      world.leave(late)
      world.enter(late)
    }
    let count = (0..<2).map { world.sides[$0].snapshotCount }.reduce(0, +)
    #expect((2...7).contains(count))
    #expect(world.run(for: .seconds(5)) { $0.isUnited })
  }
}
