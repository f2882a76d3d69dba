import CaromCore
import Testing

@testable import CaromGroup

/// Which sides form a group, and which do not.
@Suite struct ReplicaGroupTests {
  @Test func `sides whose groups have different names ignore each other`() {
    let world = ReplicaWorld(seed: 21)
    for side in 0..<6 { world.add(group: side < 3 ? "chess" : "cards") }
    for side in 0..<6 { world.connect(side) }
    for side in 0..<6 { world.at(.seconds(1)) { $0.submit(side) } }
    world.run(for: .seconds(8))
    for sides in [0..<3, 3..<6] {
      let members = sides.map { world.sides[$0].replica.local.id }.sorted()
      for side in sides {
        #expect(world.sides[side].roster?.members.map(\.id) == members)
        #expect(world.sides[side].checker.history.count == 3)
      }
    }
    #expect(world.violations == [])
  }

  @Test func `a side to which the state cannot be sent is told so, and the group stays`() throws {
    let world = ReplicaWorld(seed: 22, sidesWithHistory: 3)
    let leader = try #require(world.leader)
    world.isStateTooLarge = true
    let late = world.add()
    world.connect(late)
    world.run(for: .seconds(1))
    #expect(world.sides[late].withholder == world.sides[leader].replica.local.id)
    world.leave(late)
    world.run(for: .seconds(1))
    #expect(world.isUnited && world.leader == leader)
    #expect(world.faults == [])
  }

  @Test(arguments: 1...20 as ClosedRange<UInt64>)
  func `members that have not met yet stay one group when the leader ends`(seed: UInt64) {
    let world = ReplicaWorld(seed: seed)
    // All are connected with the first side alone, and its id is the lowest, so that it leads.
    world.add(id: PeerID(high: 0, low: 1))
    for _ in 1..<4 { world.add() }
    for side in 1..<4 { world.open(.init(0, side)) }
    let hasFormed = world.run(for: .seconds(2)) { world in
      world.sides.allSatisfy { $0.roster?.members.count == 4 }
    }
    #expect(hasFormed)
    let version = world.sides.compactMap(\.roster?.version).max() ?? 0
    for (a, b) in [(1, 2), (1, 3), (2, 3)] { world.open(.init(a, b), after: .milliseconds(300)) }
    world.kill(0, isSilent: false)
    world.run(for: .seconds(5)) { $0.isUnited }
    #expect(world.isUnited)
    for side in world.alive {
      let rosters = world.sides[side].rosterTimes.keys.filter { $0 > version }
      #expect(rosters.count == 1, "no roster of a part of the group")
    }
    #expect(world.faults == [])
  }

  @Test func `members that cannot meet each lead themselves when the leader has ended`() {
    let world = ReplicaWorld(seed: 24)
    for _ in 0..<3 { world.add() }
    for side in 1..<3 { world.open(.init(0, side)) }
    world.run(for: .seconds(2))
    world.kill(0, isSilent: false)
    let begin = world.now
    world.run(for: .seconds(2)) { world in
      world.alive.allSatisfy { world.sides[$0].leader == world.sides[$0].replica.local.id }
    }
    #expect(world.now - begin < world.options.meetingLimit + .milliseconds(100))
  }

  @Test func `submitters that one peer has invented displace only its own`() {
    var table = SequenceTable()
    let honest = EventSource(peer: PeerID(high: 1, low: 0), incarnation: 7)
    let absent = EventSource(peer: PeerID(high: 2, low: 0), incarnation: 7)
    let liar = PeerID(high: 3, low: 0)
    var index: UInt64 = 0
    func add(_ source: EventSource, _ sequence: UInt64, by voucher: PeerID) {
      index += 1
      table.add(
        LedgerEntry(
          index: index, source: source, sequence: sequence, voucher: voucher, bytes: [], term: 1))
    }
    add(honest, 5, by: honest.peer)
    add(absent, 6, by: honest.peer)
    // An event in the name of the honest peer does not make its record the liar's.
    add(honest, 6, by: liar)
    for number in 0..<5_000 as Range<UInt64> {
      add(EventSource(peer: PeerID(high: 9, low: number), incarnation: 1), 1, by: liar)
    }
    #expect(table.count == SequenceTable.limit)
    #expect(table.last(of: honest) == 6)
    #expect(table.last(of: absent) == 6)
    let copy = try? SequenceTable(decoding: table.encoded.span)
    #expect(copy == table)
  }
}
