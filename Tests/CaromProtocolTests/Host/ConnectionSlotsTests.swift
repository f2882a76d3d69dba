import CaromCore
import Testing

@testable import CaromProtocol

@Suite struct ConnectionSlotsTests {
  private func makeEntry(_ number: UInt64) -> Host.Entry {
    let connection = Connection.initiating(
      as: LocalSide(makePeer(1)), key: .none, at: .zero)
    return Host.Entry(id: ConnectionID(number), connection: connection, isIncoming: false)
  }

  private func makeStreamEntry(_ number: UInt64) -> Host.Entry {
    let connection = Connection.respondingOnStream(
      as: LocalSide(makePeer(1)), nil, isWebSocket: false, at: .zero)
    return Host.Entry(id: ConnectionID(number), connection: connection, isIncoming: true)
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
        let isStream = Bool.random(using: &generator)
        present[number] = slots.insert(isStream ? makeStreamEntry(number) : makeEntry(number))
      }
      if Int.random(in: 0..<4, using: &generator) == 0 { slots.freeEmptyChunks() }
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

  @Test func `streams that have joined other connections leave no memory behind`() {
    var slots = ConnectionSlots()
    var streams: [Int] = []
    for number in UInt64(0)..<40 {
      _ = slots.insert(makeEntry(2 * number + 1))
      streams.append(slots.insert(makeStreamEntry(2 * number + 2)))
    }
    #expect(slots.capacity == 2 * 48)
    let last = streams.removeLast()
    for slot in streams { _ = slots.remove(slot, leaving: makeEntry(0)) }
    #expect(slots[streams[0]].id == ConnectionID(0))
    slots.freeEmptyChunks()
    // The chunk of the last stream has memory as long as the stream is there.
    #expect(slots.capacity == 48 + 16)
    _ = slots.remove(last, leaving: makeEntry(0))
    slots.freeEmptyChunks()
    #expect(slots.capacity == 48 && slots.ids.count == 40)
    let again = slots.insert(makeStreamEntry(1_000))
    #expect(slots[again].id == ConnectionID(1_000) && slots.capacity == 48 + 16)
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

extension ConnectionSlots {
  /// The number of slots that have memory, in chunks of 16.
  fileprivate var capacity: Int { 16 * chunks.count { !$0.isEmpty } }
}
