import Testing

@testable import CaromCore

@Suite struct HeapTests {
  /// An element that stores its index in the heap, as a timer does.
  private final class Item: HeapElement {
    var key: Int
    var index: Int?

    init(_ key: Int) { self.key = key }

    func precedes(_ other: Item) -> Bool { key < other.key }
    func didMove(to index: Int) { self.index = index }
  }

  @Test(arguments: 1...8 as ClosedRange<UInt64>)
  func `the first element is the least, and every element stores its index`(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    var heap = Heap<Item>()
    var items: [Item] = []
    for _ in 0..<1_000 {
      switch Int.random(in: 0..<8, using: &generator) {
      case 0...3:
        items.append(Item(.random(in: 0..<100, using: &generator)))
        heap.insert(items[items.count - 1])
      case 4 where !items.isEmpty:
        let item = items.remove(at: .random(in: items.indices, using: &generator))
        #expect(heap.remove(at: item.index ?? -1) === item)
      case 5 where !items.isEmpty:
        let item = items[.random(in: items.indices, using: &generator)]
        item.key = .random(in: 0..<100, using: &generator)
        heap.updatePosition(of: item.index ?? -1)
      case 6 where generator.chance(0.1):
        heap.removeAll { $0.key % 3 == 0 }
        items.removeAll { $0.key % 3 == 0 }
      default:
        let first = heap.popFirst()
        #expect(first?.key == items.map(\.key).min())
        items.removeAll { $0 === first }
      }
      #expect(heap.count == items.count && heap.first?.key == items.map(\.key).min())
      #expect(items.allSatisfy { item in item.index.map { heap.elements[$0] === item } ?? false })
    }
  }
}
