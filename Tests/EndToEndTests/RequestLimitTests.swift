import CaromCore
import Testing

@testable import air_hockey

@Suite(.turns) struct RequestLimitTests {
  @Test func `so many requests a second are taken, and the next second as many again`() {
    var limit = RequestLimit()
    for second in 0..<3 {
      let now = Instant.zero + .seconds(second)
      let taken = (0..<2 * RequestLimit.perSecond).count { _ in limit.admits(at: now) }
      #expect(taken == RequestLimit.perSecond)
    }
  }
}
