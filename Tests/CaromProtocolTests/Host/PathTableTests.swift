import CaromCore
import Testing

@testable import CaromProtocol

@Suite struct PathTableTests {
  private static func makeAddress(_ number: Int) -> PathAddress {
    let sender: PathRole = number & 1 == 0 ? .initiator : .responder
    let port = UInt16(number >> 1 & 3)
    let address: IPAddress =
      switch number % 3 {
      case 0: .v4(UInt32(number / 24))
      case 1: .v6(high: 0, low: UInt64(number / 24), scope: UInt32(number % 7))
      default: .v6(high: UInt64(number / 24) << 60, low: 5, scope: 0)
      }
    return PathAddress(endpoint: Endpoint(address, port: port), sender: sender)
  }

  @Test(arguments: 1...20 as ClosedRange<UInt64>)
  func `the table agrees with a dictionary under random insertions and removals`(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    var table = PathTable(secret: HostSecret(using: &generator))
    var model: [PathAddress: ConnectionID] = [:]
    for step in 1...2_000 {
      let address = Self.makeAddress(Int.random(in: 0..<600, using: &generator))
      if generator.chance(0.6) {
        table[address] = ConnectionID(UInt64(step))
        model[address] = ConnectionID(UInt64(step))
      } else {
        table[address] = nil
        model[address] = nil
      }
      let other = Self.makeAddress(Int.random(in: 0..<600, using: &generator))
      #expect(table[other] == model[other], "seed \(seed)")
      #expect(table[address] == model[address] && table.count == model.count, "seed \(seed)")
    }
  }

  @Test func `addresses that differ in family or role are different keys`() {
    var table = PathTable(secret: HostSecret(low: 1, high: 2))
    let v4 = Endpoint(.v4(1), port: 7), v6 = Endpoint(.v6(high: 0, low: 1, scope: 0), port: 7)
    #expect(table[PathAddress(endpoint: v4, sender: .initiator)] == nil)
    table[PathAddress(endpoint: v4, sender: .initiator)] = ConnectionID(1)
    table[PathAddress(endpoint: v4, sender: .responder)] = ConnectionID(2)
    table[PathAddress(endpoint: v6, sender: .initiator)] = ConnectionID(3)
    #expect(table[PathAddress(endpoint: v4, sender: .initiator)] == ConnectionID(1))
    #expect(table[PathAddress(endpoint: v4, sender: .responder)] == ConnectionID(2))
    #expect(table[PathAddress(endpoint: v6, sender: .initiator)] == ConnectionID(3))
    #expect(table[PathAddress(endpoint: v6, sender: .responder)] == nil)
  }
}
