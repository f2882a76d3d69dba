import CaromCore
import Testing

@testable import CaromProtocol

@Suite struct ConnectionSlotsTests {
  private func makeEntry(_ number: UInt64) -> Host.Entry {
    let connection = Connection.initiating(
      as: LocalSide(makePeer(1)), key: .none, at: .zero)
    return Host.Entry(id: ConnectionID(number), connection: connection, isIncoming: false)
  }

  @Test func `each id leads to its connection, whatever was inserted and removed`() {
    var generator = SeededGenerator(seed: 3)
    var slots = ConnectionSlots()
    var present: [UInt64: Int] = [:]
    let vacancy = makeEntry(0)
    for _ in 0..<1_000 {
      let number = UInt64.random(in: 1...200, using: &generator)
      if let slot = present.removeValue(forKey: number) {
        let removed = slots.remove(slot, leaving: vacancy)
        #expect(removed.id.number == number)
      } else {
        present[number] = slots.insert(makeEntry(number))
      }
      for number in UInt64(0)...200 {
        #expect(slots.slot(of: ConnectionID(number)) == present[number])
      }
    }
    #expect(slots.ids.map(\.number) == present.keys.sorted())
    #expect(Set(present.values).count == present.count)
  }

  @Test func `a connection keeps its slot while others come and go`() throws {
    var slots = ConnectionSlots()
    // The numbers have the same low bits.
    let kept = slots.insert(makeEntry(1))
    let other = slots.insert(makeEntry(1 + 1 << 10))
    #expect(kept != other)
    #expect(slots.slot(of: ConnectionID(1 + 1 << 11)) == nil)
    _ = slots.remove(other, leaving: makeEntry(0))
    for number in UInt64(2)..<100 { _ = slots.insert(makeEntry(number)) }
    #expect(slots.slot(of: ConnectionID(1)) == kept)
    #expect(slots[kept].id == ConnectionID(1))
    #expect(slots.slot(of: ConnectionID(1 + 1 << 10)) == nil)
  }

  @Test func `the next id is one for which the host has a place`() {
    var host = Host(makePeer(1), seats: 1)
    let first = host.makeConnectionID()
    let isAccepted = host.accept(first, at: .zero)
    #expect(isAccepted)
    var ids: [ConnectionID] = []
    for _ in 0..<64 { ids.append(host.makeConnectionID()) }
    #expect(ids == ids.sorted() && Set(ids).count == 64)
    #expect(!ids.contains(ConnectionID(first.number + 64)))
    for id in ids { _ = host.accept(id, at: .zero) }
    #expect(host.connectionIDs == [first] + ids)
    #expect(ids.allSatisfy { host.contains($0) })
  }
}
