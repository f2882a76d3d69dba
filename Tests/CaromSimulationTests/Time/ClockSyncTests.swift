import Testing

@testable import CaromSimulation

@Suite struct ClockSyncTests {
  @Test func `the offset is half the difference of both advantages, once both sides have measured`()
  {
    var sync = ClockSync()
    #expect(sync.offset == nil)
    sync.recordPeerTick(Tick(10), at: Tick(16), fraction: 0.5)
    #expect(sync.advantage == 6.5)
    #expect(sync.offset == nil)
    sync.recordPeerAdvantage(-1.5)
    #expect(sync.offset == 4)
    var other = ClockSync()
    other.recordPeerAdvantage(3)
    #expect(other.offset == nil)
    other.recordPeerTick(Tick(16), at: Tick(10), fraction: 0)
    #expect(other.offset == -4.5)
  }

  @Test func `the first measurements are averaged, and each later one has a fixed weight`() {
    var sync = ClockSync()
    for distance in [2, 4, 9] as [UInt64] {
      sync.recordPeerTick(.zero, at: Tick(distance), fraction: 0)
    }
    #expect(abs(sync.advantage - 5) < 1e-12)
    for _ in 0..<2_000 { sync.recordPeerTick(.zero, at: .zero, fraction: 0) }
    sync.recordPeerTick(.zero, at: Tick(64), fraction: 0)
    #expect(abs(sync.advantage - 2) < 1e-9)
    for value in [2, 4, 9.0] { sync.recordPeerAdvantage(value) }
    #expect(abs(sync.peerAdvantage - 5) < 1e-12)
    for _ in 0..<500 { sync.recordPeerAdvantage(0) }
    sync.recordPeerAdvantage(64)
    #expect(abs(sync.peerAdvantage - 8) < 1e-9)
  }

  @Test(
    arguments: [
      (0, 60, 1_000_000), (0.6, 60, 995_000), (-0.6, 60, 1_005_000), (0.6, 120, 997_500),
      // Up to four ticks the change is at most 2 %; beyond them at most 5 %.
      (4, 60, 980_000), (-4, 60, 1_020_000), (4.5, 60, 962_500), (-4.5, 60, 1_037_500),
      (4.5, 600, 996_250), (6.5, 60, 950_000), (-6.5, 60, 1_050_000),
    ] as [(Double, Int, Int)])
  func `half of the lead is corrected per second, within the limits`(
    lead: Double, rate: Int, speed: Int
  ) {
    #expect(ClockSync.speed(lead: lead, rate: rate) == speed)
  }

  @Test func `a packet carries the advantage in sixteenths of a tick, within 2,000 ticks`() {
    for (ticks, sixteenths) in [(3, 48), (-3, -48), (1_999, 31_984), (3_000, 32_000)] {
      var sync = ClockSync()
      sync.recordPeerTick(Tick(1 << 20), at: Tick(UInt64((1 << 20) + ticks)), fraction: 0)
      #expect(Int(sync.sixteenths) == sixteenths)
    }
    var behind = ClockSync()
    behind.recordPeerTick(Tick(9_000), at: Tick(10), fraction: 0)
    #expect(behind.sixteenths == -32_000)
  }

  @Test func `the buffer is a tick, twice the deviation and a quarter for each late input`() {
    var lead = ClockLead()
    #expect(lead.buffer == 1)
    #expect(lead.arrivalMargin == nil)
    #expect(lead.speed(rate: 60) == 1_000_000)
    lead.record(.init(lead: 12, advantage: -24))
    #expect(lead.buffer == 2.5)
    #expect(lead.arrivalMargin == -1.5)
    // The inputs are four ticks too late: not more than that, so the clock is at most 2 % faster.
    #expect(lead.speed(rate: 60) == 1_020_000)
    lead.recordLateInput()
    #expect(lead.buffer == 2.75)
    #expect(lead.speed(rate: 60) == 1_035_416)
    for _ in 0..<30 { lead.recordLateInput() }
    #expect(lead.buffer == 6.5)
    lead.record(.init(lead: 255, advantage: 192))
    #expect(lead.buffer == 12)
    #expect(lead.speed(rate: 60) == 1_000_000)
  }

  @Test func `the surcharge for late inputs decays, and the deviation does not`() {
    var lead = ClockLead()
    lead.record(.init(lead: 16, advantage: 0))
    for _ in 0..<16 { lead.recordLateInput() }
    #expect(lead.buffer == 7)
    lead.tick()
    #expect(abs(lead.buffer - (3 + 4 * 0.9995)) < 1e-12)
    for _ in 0..<40_000 { lead.tick() }
    #expect(abs(lead.buffer - 3) < 1e-6)
  }
}
