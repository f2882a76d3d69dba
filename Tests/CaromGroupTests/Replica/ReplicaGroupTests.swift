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
