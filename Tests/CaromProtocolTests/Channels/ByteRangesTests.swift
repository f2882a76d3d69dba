import CaromCore
import CaromTesting
import Testing

@testable import CaromProtocol

/// Which bytes of a message were acknowledged, lost or received.
@Suite struct ByteRangesTests {
  private func list(_ ranges: ByteRanges) -> [ClosedRange<UInt32>] {
    ranges.ranges.map { $0.start...$0.end }
  }

  @Test func `ranges that overlap or touch become one, and only new bytes are counted`() {
    var ranges = ByteRanges()
    #expect(ranges.isEmpty && ranges.first == nil)
    // The inserted bytes, how many of them are new, and the ranges afterwards.
    let rows: [(UInt32, UInt32, Int, [ClosedRange<UInt32>])] = [
      (10, 20, 10, [10...20]), (30, 40, 10, [10...20, 30...40]), (10, 20, 0, [10...20, 30...40]),
      (20, 25, 5, [10...25, 30...40]), (28, 30, 2, [10...25, 28...40]),
      (12, 18, 0, [10...25, 28...40]), (0, 5, 5, [0...5, 10...25, 28...40]),
      (4, 10, 5, [0...25, 28...40]), (26, 27, 1, [0...25, 26...27, 28...40]),
      (20, 60, 22, [0...60]), (70, 70, 0, [0...60]), (5, 5, 0, [0...60]),
    ]
    for (start, end, new, expected) in rows {
      let count = ranges.insert(start, end)
      #expect(count == new && list(ranges) == expected, "\(start)..<\(end)")
    }
    #expect(ranges.count == 1 && ranges.first?.end == 60)
    ranges.removeAll()
    #expect(ranges.isEmpty)
  }

  @Test func `bytes are removed from the ends and from the middle of ranges`() {
    var ranges = ByteRanges()
    ranges.insert(5, 50)
    ranges.insert(60, 70)
    let rows: [(UInt32, UInt32, [ClosedRange<UInt32>])] = [
      (0, 5, [5...50, 60...70]), (50, 60, [5...50, 60...70]), (20, 20, [5...50, 60...70]),
      (10, 20, [5...10, 20...50, 60...70]), (10, 21, [5...10, 21...50, 60...70]),
      (0, 6, [6...10, 21...50, 60...70]), (45, 65, [6...10, 21...45, 65...70]),
      (21, 45, [6...10, 65...70]), (69, 99, [6...10, 65...69]), (0, 99, []),
    ]
    for (start, end, expected) in rows {
      ranges.remove(start, end)
      #expect(list(ranges) == expected, "\(start)..<\(end)")
    }
  }

  @Test func `ranges agree with a set of positions`() throws {
    try Seeds(10).check { seed in
      var generator = SeededGenerator(seed: seed)
      var (ranges, model) = (ByteRanges(), Set<UInt32>())
      for _ in 0..<200 {
        let start = UInt32.random(in: 0..<60, using: &generator)
        let end = start + UInt32.random(in: 0..<12, using: &generator)
        if generator.chance(0.6) {
          let new = Set(start..<end).subtracting(model)
          let count = ranges.insert(start, end)
          try #require(count == new.count)
          model.formUnion(new)
        } else {
          ranges.remove(start, end)
          model.subtract(start..<end)
        }
        var expected: [ClosedRange<UInt32>] = []
        for position in model.sorted() {
          if let last = expected.last, last.upperBound == position {
            expected[expected.count - 1] = last.lowerBound...position + 1
          } else {
            expected.append(position...position + 1)
          }
        }
        try #require(list(ranges) == expected)
      }
    }
  }

  // MARK: Fragments

  @Test func `bytes are lost unless they were acknowledged, and until they are sent again`() {
    var table = FragmentTable()
    let index = table.allocate()
    table.recordAcknowledged(index, 100, 200)
    table.recordAcknowledged(index, 150, 250)
    #expect(table[index].acknowledgedBytes == 150 && table.firstLost(index) == nil)
    table.recordAcknowledged(index, 400, 500)
    table.recordLost(index, 50, 450)
    #expect(list(table[index].lost) == [50...100, 250...400])
    table.recordLost(index, 120, 240)
    table.recordLost(index, 400, 500)
    #expect(list(table[index].lost) == [50...100, 250...400])
    #expect(table.firstLost(index)?.start == 50 && table.firstLost(index)?.end == 100)
    table.recordResent(index, 50, 80)
    #expect(table.firstLost(index)?.start == 80)
    table.recordAcknowledged(index, 80, 300)
    #expect(list(table[index].lost) == [300...400])
    #expect(table[index].acknowledgedBytes == 320)
  }

  @Test func `the entry of a message that has ended is empty when it is used again`() {
    var table = FragmentTable()
    let indexes = (0..<2).map { _ in table.allocate() }
    #expect(indexes == [0, 1])
    table.recordAcknowledged(0, 0, 10)
    table.recordLost(0, 20, 30)
    table.recordLost(1, 5, 6)
    table.release(0)
    let next = (0..<2).map { _ in table.allocate() }
    #expect(next == [0, 2])
    #expect(table[0].acknowledged.isEmpty && table[0].lost.isEmpty)
    #expect(table[0].acknowledgedBytes == 0 && table.firstLost(1)?.start == 5)
  }

  // MARK: Receipts

  @Test func `a receipt is complete once each byte of its own message is acknowledged`() {
    var receipts = OpenReceipts()
    for (ticket, length) in [(7, 1_000), (8, 500)] as [(UInt64, Int)] {
      let dropped = receipts.begin(ticket, channel: 1, length: length)
      #expect(dropped == nil)
    }
    // The message, the acknowledged bytes, and whether they complete it.
    let rows: [(UInt64, Int, Bool)] = [
      (7, 600, false), (8, 499, false), (9, 1_000, false), (7, 399, false), (7, 1, true),
      (7, 1, false), (8, 1, true),
    ]
    for (ticket, count, isComplete) in rows {
      let isDelivered = receipts.acknowledge(ticket, count)
      #expect(isDelivered == isComplete, "\(count) bytes of \(ticket)")
    }
    #expect(receipts.count == 0)
  }

  @Test func `a receipt is removed once, and the oldest of 65 makes room`() {
    var receipts = OpenReceipts()
    for ticket in 0..<64 as Range<UInt64> {
      _ = receipts.begin(ticket, channel: UInt8(ticket), length: 10)
    }
    let dropped = receipts.begin(64, channel: 9, length: 10)
    #expect(dropped?.ticket == 0 && dropped?.channel == 0 && receipts.count == 64)
    let results = [0, 5, 5, 64].map { receipts.remove($0) }
    #expect(results == [false, true, false, true] && receipts.count == 62)
    let isDelivered = receipts.acknowledge(5, 10)
    #expect(!isDelivered)
  }
}
