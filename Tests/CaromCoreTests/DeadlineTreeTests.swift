import Testing

@testable import CaromCore

@Suite struct DeadlineTreeTests {
  @Test func `a deadline tree agrees with a list`() {
    var generator = SeededGenerator(seed: 5)
    var tree = DeadlineTree()
    var list = [Instant?](repeating: nil, count: 37)
    #expect(tree.first == nil)
    for _ in 0..<2_000 {
      let place = Int.random(in: 0..<37, using: &generator)
      let time = Instant(nanoseconds: .random(in: 0..<50, using: &generator))
      list[place] = generator.chance(0.3) ? nil : time
      tree.set(list[place], at: place)
      #expect(tree.first == list.compactMap { $0 }.min())
      let start = Int.random(in: 0..<64, using: &generator)
      let due = list.indices.first { $0 >= start && list[$0].map { $0 <= time } == true }
      #expect(tree.firstIndex(from: start, dueAt: time) == due)
    }
  }
}
