import CaromTesting
import Testing

@Test func `conditions need no import but the testing kit's`() {
  let clock = TestClock()
  let start: Instant = clock.now
  #expect(start.advanced(by: .seconds(1)) > start)
}
