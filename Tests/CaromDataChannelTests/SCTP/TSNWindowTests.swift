import CaromCore
import Testing

@testable import CaromDataChannel

@Suite struct TSNWindowTests {
  private static func gaps(_ window: TSNWindow, limit: Int = 100) -> [UInt16] {
    var bytes: [UInt8] = []
    let count = window.appendGaps(to: &bytes, limit: limit)
    #expect(bytes.count == 4 * count)
    return stride(from: 0, to: bytes.count, by: 2).map { bytes.span.bigEndian16(at: $0) }
  }

  /// The window begins at 0, in the middle of the number space, and before the wrap.
  @Test(arguments: [0, 0x7FFF_FFF0, 0xFFFF_FFF0] as [UInt32])
  func `numbers are new once, and gaps are known until they are filled`(first: UInt32) {
    var window = TSNWindow(first: TSN(first))
    func tsn(_ offset: Int) -> TSN { TSN(first).advanced(by: offset) }
    #expect(window.insert(tsn(-1)) == .duplicate)
    #expect(window.insert(tsn(0)) == .new)
    for offset in [3, 4, 30] { #expect(window.insert(tsn(offset)) == .new) }
    #expect(window.insert(tsn(4)) == .duplicate)
    #expect(window.cumulative == tsn(0) && window.hasGaps)
    #expect(Self.gaps(window) == [3, 4, 30, 30])
    #expect(Self.gaps(window, limit: 1) == [3, 4])
    for offset in [2, 1] { #expect(window.insert(tsn(offset)) == .new) }
    #expect(window.cumulative == tsn(4))
    #expect(Self.gaps(window) == [26, 26])
    #expect(window.contains(tsn(30)) && !window.contains(tsn(29)))
  }

  @Test func `the window ends 1,024 numbers after the cumulative one`() {
    var window = TSNWindow(first: TSN(1))
    #expect(window.insert(TSN(1_025)) == .outside)
    #expect(window.insert(TSN(1_024)) == .new)
    #expect(Self.gaps(window) == [1_024, 1_024])
  }

  @Test(arguments: [1, 63, 64, 1_000, 1_023, 1_024, 1_025, 100_000])
  func `an advance forgets everything before it`(distance: Int) {
    let first = TSN(0xFFFF_FF00)
    var window = TSNWindow(first: first)
    for offset in stride(from: 2, through: 1_000, by: 7) {
      _ = window.insert(first.advanced(by: offset))
    }
    let target = first.advanced(by: distance)
    window.advance(to: target)
    #expect(window.contains(target) && !window.cumulative.precedes(target))
    // Behind the advance, the same numbers as before are in the window.
    for offset in distance + 1...distance + 1_100 {
      let isKnown = offset <= 1_000 && offset % 7 == 2
      #expect(window.contains(first.advanced(by: offset)) == isKnown)
    }
  }

  @Test func `a window agrees with a set`() {
    for seed in 0..<20 as Range<UInt64> {
      var generator = SeededGenerator(seed: seed)
      let first = TSN(UInt32.max - UInt32(generator.next() % 3_000))
      var window = TSNWindow(first: first)
      var known: Set<Int> = []
      var cumulative = -1
      for _ in 0..<3_000 {
        let offset = cumulative + Int.random(in: -5...60, using: &generator)
        let isNew = offset > cumulative && known.insert(offset).inserted
        #expect(window.insert(first.advanced(by: offset)) == (isNew ? .new : .duplicate))
        if generator.chance(0.02) {
          cumulative += 20
          window.advance(to: first.advanced(by: cumulative))
        }
        while known.contains(cumulative + 1) { cumulative += 1 }
        #expect(window.cumulative == first.advanced(by: cumulative))
      }
    }
  }
}
