import CaromCore
import CaromTesting
import Testing

@Suite struct TestClockTests {
  @Test func `the time changes only by advance`() {
    let clock = TestClock(now: .zero + .seconds(3))
    #expect(clock.now == .zero + .seconds(3))
    clock.advance(by: .milliseconds(5))
    #expect(clock.now == .zero + .milliseconds(3_005))
  }

  @Test func `a sleeping task wakes at its deadline`() async throws {
    let clock = TestClock()
    let sleeper = Task { try await clock.sleep(for: .seconds(2)) }
    while clock.sleeperCount == 0 { await Task.yield() }
    clock.advance(by: .seconds(1))
    #expect(clock.sleeperCount == 1)
    clock.advance(by: .seconds(1))
    try await sleeper.value
    #expect(clock.sleeperCount == 0)
  }

  @Test func `a sleep until a past deadline returns at once`() async throws {
    let clock = TestClock(now: .zero + .seconds(1))
    try await clock.sleep(until: .zero)
  }

  @Test func `a cancelled sleep throws`() async {
    let clock = TestClock()
    let sleeper = Task { try await clock.sleep(for: .seconds(2)) }
    while clock.sleeperCount == 0 { await Task.yield() }
    sleeper.cancel()
    await #expect(throws: CancellationError.self) { try await sleeper.value }
    #expect(clock.sleeperCount == 0)
  }
}
