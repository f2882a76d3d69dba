import CaromCore
import Testing

@Suite struct FixedRateTests {
  @Test func `a step is due at its time rounded up, and not a nanosecond earlier`() {
    for perSecond in [1, 7, 60, 64, 144, 999_999, 1_000_000] {
      let rate = FixedRate(perSecond)
      for count in [1, 2, 3, 59, 60, 61, 1_000_001] as [Int64] {
        let time = rate.nanosecondsRoundedUp(of: count)
        #expect(rate.steps(in: time) == count)
        #expect(rate.steps(in: time - 1) == count - 1)
      }
    }
  }

  @Test func `sixty steps per second take a sixtieth of a second each, without drift`() {
    let rate = FixedRate(60)
    let counts = [1, 2, 3, 60, 216_000] as [Int64]
    #expect(
      counts.map { rate.nanosecondsRoundedUp(of: $0) }
        == [16_666_667, 33_333_334, 50_000_000, 1_000_000_000, 3_600_000_000_000])
    #expect(
      counts.map { rate.nanoseconds(of: $0) }
        == [16_666_666, 33_333_333, 50_000_000, 1_000_000_000, 3_600_000_000_000])
  }
}
