import Carom
import TerminalText
import Testing

@testable import CaromProtocol
@testable import air_hockey

/// The line of `--net-stats`.
@Suite struct NetworkMeterTests {
  private func makeStatistics(roundTrip: Duration, loss: Double) -> PeerStatistics {
    var statistics = PeerStatistics()
    statistics.roundTrip = roundTrip
    statistics.lossRate = loss
    return statistics
  }

  @Test func `a line has the figures of a second, with as many digits as they need`() {
    let quiet = NetworkMeter.line(
      makeStatistics(roundTrip: .microseconds(440), loss: 0), age: .microseconds(16_700),
      rollbacks: 0, correction: 0, sent: 2_321, received: 9_999)
    #expect(
      quiet == "RTT 0.4 ms · loss 0.0 % · age 16.7 ms · 0 rollbacks ≤ 0.0 mm · 2321/9999 B/s")
    let slow = NetworkMeter.line(
      makeStatistics(roundTrip: .microseconds(213_449), loss: 0.2534), age: .microseconds(99_949),
      rollbacks: 58, correction: 0.1236, sent: 10_000, received: 12_999)
    #expect(
      slow == "RTT 213 ms · loss 25.3 % · age 99.9 ms · 58 rollbacks ≤ 124 mm · 10k/12k B/s")
  }

  @Test func `a line fits a terminal of 80 columns on the worst path`() {
    let worst = NetworkMeter.line(
      makeStatistics(roundTrip: .seconds(4), loss: 1), age: .seconds(4), rollbacks: 60,
      correction: 1.948, sent: 99_999, received: 99_999)
    #expect(TextWidth.columns(of: worst) <= 78, "\(worst)")
  }
}
