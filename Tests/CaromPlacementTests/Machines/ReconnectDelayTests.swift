import CaromCore
import Testing

@testable import CaromPlacement

@Suite struct ReconnectDelayTests {
  @Test func `delays grow up to a second, and are random`() {
    for seed in 1...50 as ClosedRange<UInt64> {
      var generator = SeededGenerator(seed: seed)
      var delay = ReconnectDelay()
      for round in 0..<2 {
        for longest in [250, 500, 1_000, 1_000, 1_000] as [Int64] {
          let next = delay.next(using: &generator)
          #expect(.milliseconds(longest / 2)...(.milliseconds(longest)) ~= next, "round \(round)")
        }
        delay.reset()
      }
    }
    let first = (1...50).map { seed in
      var generator = SeededGenerator(seed: UInt64(seed))
      var delay = ReconnectDelay()
      return delay.next(using: &generator)
    }
    #expect(Set(first).count > 40)
  }
}
