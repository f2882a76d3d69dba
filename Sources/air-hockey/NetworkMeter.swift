import AirHockey
import Carom
import CaromSimulation

/// What the network does to a match, second by second.
struct NetworkMeter {
  /// How old the other player's newest word was in each picture.
  private(set) var stateAge = JitterMeter()
  /// Corrections that moved the puck, metres: how many, their sum, and the greatest.
  private(set) var corrections = (count: 0, sum: 0.0, most: 0.0)
  /// By how many ticks the state that was shown ran ahead of what was decided.
  var gap: (mean: Double, most: Int) {
    (frames == 0 ? 0 : Double(gapSum) / Double(frames), gapMost)
  }
  /// The last whole second in words.
  private(set) var line = ""

  private var frames = 0
  private var gapSum = 0
  private var gapMost = 0
  private var heard: Instant?
  private var began: Instant?
  private var bytes: (sent: UInt64, received: UInt64) = (0, 0)
  private var rollbacks = 0
  private var second = (most: 0.0, age: Duration.zero)

  /// The other player's word came.
  mutating func noteHeard(at now: Instant) { heard = now }

  /// A correction moved the puck that far, metres.
  mutating func noteCorrection(_ length: Double) {
    guard length > 0 else { return }
    corrections = (
      corrections.count + 1, corrections.sum + length, max(corrections.most, length)
    )
    second.most = max(second.most, length)
  }

  /// A picture is shown: its newest word is as old as half a round trip, and what passed since.
  mutating func noteFrame(_ statistics: PeerStatistics, gap: Int, at now: Instant) {
    frames += 1
    gapSum += gap
    gapMost = max(gapMost, gap)
    guard let heard else { return }
    let age = now - heard + (statistics.roundTrip ?? .zero) / 2
    stateAge.record(age)
    second.age = max(second.age, age)
  }

  /// Sums up a second, where one has passed.
  mutating func close(
    _ statistics: PeerStatistics, _ bytes: (sent: UInt64, received: UInt64),
    _ match: JoinedMatch?, at now: Instant
  ) -> Bool {
    guard let began else {
      (self.began, self.bytes) = (now, bytes)
      return false
    }
    let seconds = Double((now - began).wholeNanoseconds) / 1e9
    guard seconds >= 1 else { return false }
    let rollbacks = match?.statistics.rollbacks ?? 0
    let rate = { (count: UInt64) in Int((Double(count) / seconds).rounded()) }
    line =
      "round trip \(Self.tenths(statistics.roundTrip ?? .zero)) ms · loss "
      + "\((statistics.lossRate * 1000).rounded() / 10) % · state \(Self.tenths(second.age)) ms old"
      + " · \(max(0, rollbacks - self.rollbacks)) rollbacks · corrections up to "
      + "\((second.most * 10_000).rounded() / 10) mm · "
      + "\(rate(bytes.sent - self.bytes.sent)) B/s sent, "
      + "\(rate(bytes.received - self.bytes.received)) B/s received"
    (self.began, self.bytes, self.rollbacks) = (now, bytes, rollbacks)
    second = (0, .zero)
    return true
  }

  private static func tenths(_ duration: Duration) -> Double {
    (duration.inMilliseconds * 10).rounded() / 10
  }
}
