import CaromCore
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
    if let first = numbers[0] { table.entries[first] = nil }
    #expect(table.add(to: peer, until: .zero) != nil)
    #expect(table.add(to: peer, until: .zero) == nil)
  }

  @Test func `requests are numbered in order, and the first outcome counts`() async {
    var table = RequestTable()
    let (connection, other) = (ConnectionID(1), ConnectionID(2))
    let numbers = (0..<3).compactMap { table.add(to: connection, until: Instant(nanoseconds: $0)) }
    #expect(numbers == [1, 2, 3])
    #expect(table.add(to: other, until: Instant(nanoseconds: 9)) == 4)
    #expect(table.numbers { $0.connection == connection } == [1, 2, 3])
    #expect(table.numbers { $0.deadline >= Instant(nanoseconds: 2) } == [3, 4])
    #expect(table.nextTimeout == nil, "no task is suspended yet")
    table.resolve(2, .success([7]))
    table.resolve(2, .failure(.busy))
    guard case .resolved(.success([7]))? = table.entries[2]?.state else {
      Issue.record("\(table.entries)")
      return
    }
    let outcome = await withCheckedContinuation { continuation in
      table.entries[4]?.state = .awaited(continuation)
      #expect(table.nextTimeout == Instant(nanoseconds: 9))
      table.resolve(4, .failure(.timedOut))
      #expect(table.nextTimeout == nil)
      table.resolve(4, .success([]))
    }
    #expect(outcome == .failure(.timedOut))
    #expect(table.entries.keys.sorted() == [1, 2, 3])
  }
}
