import CaromCore
import Testing

@testable import CaromProtocol

@Suite struct AcknowledgedRangesTests {
  @Test func `the ranges hold the same numbers as a set`() throws {
    for seed in 0..<20 as Range<UInt64> {
      var generator = SeededGenerator(seed: seed)
      var ranges = AcknowledgedRanges()
      var model: Set<UInt64> = []
      for _ in 0..<60 {
        let number = generator.next() % 100
        var evicted: ClosedRange<UInt64>?
        let isNew = ranges.insert(number, evicted: &evicted)
        try #require(isNew == model.insert(number).inserted && evicted == nil, "seed \(seed)")
      }
      #expect(ranges.flatMap { Array($0) }.sorted() == model.sorted())
      #expect(Array(ranges) == ranges.sorted { $0.lowerBound > $1.lowerBound })
      for (newer, older) in zip(ranges, ranges.dropFirst()) {
        #expect(newer.lowerBound > older.upperBound + 1)
      }
      #expect((0..<100).allSatisfy { ranges.contains($0) == model.contains($0) })
    }
  }

  @Test func `the oldest of 65 ranges is evicted`() {
    var ranges = AcknowledgedRanges()
    var evicted: ClosedRange<UInt64>?
    for number in 1...64 as ClosedRange<UInt64> {
      _ = ranges.insert(10 * number, evicted: &evicted)
    }
    #expect(evicted == nil)
    #expect(ranges.count == AcknowledgedRanges.maximumCount)
    let older = ranges.insert(5, evicted: &evicted)
    #expect(older)
    #expect(evicted == 5...5)
    #expect(!ranges.contains(5))
    _ = ranges.insert(11, evicted: &evicted)
    _ = ranges.insert(655, evicted: &evicted)
    #expect(evicted == 10...11)
    #expect(ranges.count == AcknowledgedRanges.maximumCount)
    #expect(ranges.largest == 655)
  }

  @Test func `the short form covers 64 packets or all from 0`() {
    var ranges = AcknowledgedRanges()
    for (largest, range) in [
      (0, 0...0), (62, 0...62), (63, 0...63), (64, 1...64), (999, 936...999),
    ]
      as [(UInt64, ClosedRange<UInt64>)]
    {
      ranges.setShort(largest: largest)
      #expect(Array(ranges) == [range])
    }
    ranges.removeAll()
    #expect(ranges.isEmpty)
    #expect(ranges.largest == nil)
  }
}
