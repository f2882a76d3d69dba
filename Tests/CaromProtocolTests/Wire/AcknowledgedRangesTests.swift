import CaromCore
import Testing

@testable import CaromProtocol

@Suite struct AcknowledgedRangesTests {
  @Test func `numbers become ranges, the same as a set would hold`() throws {
    for seed in 0..<20 as Range<UInt64> {
      var generator = SeededGenerator(seed: seed)
      var ranges = AcknowledgedRanges()
      var model: Set<UInt64> = []
      for _ in 0..<60 {
        let number = generator.next() % 100
        var forgotten: ClosedRange<UInt64>?
        let isNew = ranges.insert(number, forgotten: &forgotten)
        try #require(isNew == model.insert(number).inserted && forgotten == nil, "seed \(seed)")
      }
      #expect(ranges.flatMap { Array($0) }.sorted() == model.sorted())
      #expect(Array(ranges) == ranges.sorted { $0.lowerBound > $1.lowerBound })
      for (newer, older) in zip(ranges, ranges.dropFirst()) {
        #expect(newer.lowerBound > older.upperBound + 1)
      }
      #expect((0..<100).allSatisfy { ranges.contains($0) == model.contains($0) })
    }
  }

  @Test func `the oldest of 65 ranges is forgotten`() {
    var ranges = AcknowledgedRanges()
    var forgotten: ClosedRange<UInt64>?
    for number in 1...64 as ClosedRange<UInt64> {
      _ = ranges.insert(10 * number, forgotten: &forgotten)
    }
    #expect(forgotten == nil)
    #expect(ranges.count == AcknowledgedRanges.maximumCount)
    let older = ranges.insert(5, forgotten: &forgotten)
    #expect(older)
    #expect(forgotten == 5...5)
    #expect(!ranges.contains(5))
    _ = ranges.insert(11, forgotten: &forgotten)
    _ = ranges.insert(655, forgotten: &forgotten)
    #expect(forgotten == 10...11)
    #expect(ranges.count == AcknowledgedRanges.maximumCount)
    #expect(ranges.largest == 655)
  }

  @Test func `the short form is 64 packets, or all from 0`() {
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
