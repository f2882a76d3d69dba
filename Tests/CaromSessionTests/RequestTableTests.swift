import Testing

@testable import CaromProtocol
@testable import CaromSession

@Suite struct RequestTableTests {
  @Test func `128 requests to one peer can be pending, and one more is refused until one ends`() {
    var table = RequestTable()
    let (peer, other) = (ConnectionID(1), ConnectionID(2))
    let numbers = (0..<128).map { _ in table.add(to: peer, until: .zero) }
    #expect(Set(numbers).count == 128 && !numbers.contains(nil))
    #expect(table.add(to: peer, until: .zero) == nil)
    #expect(table.add(to: other, until: .zero) != nil)
    for number in numbers.prefix(1) { table.entries[number!] = nil }
    #expect(table.add(to: peer, until: .zero) != nil)
    #expect(table.add(to: peer, until: .zero) == nil)
  }
}
