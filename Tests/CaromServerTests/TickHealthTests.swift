import CaromCore
import Testing

@testable import CaromServer

@Suite struct TickHealthTests {
  private let health = TickHealth()
  private let begin = Instant(nanoseconds: 5_000_000_000)

  private func after(_ milliseconds: Int64) -> Instant {
    begin.advanced(by: .milliseconds(milliseconds))
  }

  @Test func `ticks that come within the limit are healthy`() {
    #expect(health.lateness(at: begin) == nil)
    for number in 0..<50 as Range<Int64> {
      // The tick is due at a multiple of 20 ms.
      health.expectTick(by: after(20 * number + 20), at: after(20 * number + number % 3 * 30))
      #expect(health.lateness(at: after(20 * number + 99)) == nil)
    }
    #expect(health.page(at: after(1_000)) == .init(text: "ok\n"))
  }

  @Test func `a tick that does not come is late from the limit on`() {
    health.expectTick(by: after(20), at: begin)
    #expect(health.lateness(at: after(119)) == nil)
    #expect(health.lateness(at: after(120)) == .milliseconds(100))
    let page = health.page(at: after(5_020))
    #expect(!page.isAvailable)
    #expect(page.bytes == Array("A tick is or was late by 5000 ms.\n".utf8))
  }

  @Test func `a late tick is reported for ten seconds, with the most of them`() {
    health.expectTick(by: after(20), at: begin)
    health.expectTick(by: after(340), at: after(320))
    #expect(health.lateness(at: after(330)) == .milliseconds(300))
    health.expectTick(by: nil, at: after(460))
    #expect(health.lateness(at: after(470)) == .milliseconds(300))
    #expect(health.lateness(at: after(10_459)) == .milliseconds(300))
    #expect(health.lateness(at: after(10_460)) == nil)
  }

  @Test func `a server that expects no tick is healthy`() {
    health.expectTick(by: after(20), at: begin)
    health.expectTick(by: nil, at: after(20))
    #expect(health.lateness(at: after(60_000)) == nil)
  }
}
