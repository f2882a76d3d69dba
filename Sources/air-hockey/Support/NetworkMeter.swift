import Carom

/// Measures how the network affects a match, for each second and in total.
struct NetworkMeter {
  /// The age of the newest inputs of the other player, measured at each frame.
  private(set) var stateAge = JitterMeter()
  /// The corrections that moved the puck: their number, and the sum and the maximum of their
  /// lengths, in meters.
  private(set) var corrections = (count: 0, sum: 0.0, most: 0.0)
  /// The mean and the maximum number of ticks by which the displayed state was ahead of the
  /// confirmed state.
  var gap: (mean: Double, most: Int) {
    (frames == 0 ? 0 : Double(gapSum) / Double(frames), gapMost)
  }
  /// A line about the last complete second, of at most 78 columns so that it fits a terminal with
  /// 80 columns. The line shows the round trip, the loss, the age of the other player's newest
  /// input, the number of rollbacks, the longest correction, and the bytes sent and received per
  /// second.
  private(set) var line = ""

  private var frames = 0
  private var gapSum = 0
  private var gapMost = 0
  private var secondStart: Instant?
  private var bytes: (sent: UInt64, received: UInt64) = (0, 0)
  private var rollbacks = 0
  private var second = (most: 0.0, age: Duration.zero)

  /// Records that a correction moved the puck by `length` meters. A length of 0 is not counted.
  mutating func recordCorrection(_ length: Double) {
    guard length > 0 else { return }
    corrections = (
      corrections.count + 1, corrections.sum + length, max(corrections.most, length)
    )
    second.most = max(second.most, length)
  }

  /// Records a frame displayed `gap` ticks ahead of the confirmed state. Also records the age of
  /// the other player's newest inputs, which arrived at `lastInputs`: the time since then plus half
  /// a round trip.
  mutating func recordFrame(
    _ statistics: PeerStatistics, gap: Int, lastInputs: Instant?, at now: Instant
  ) {
    frames += 1
    gapSum += gap
    gapMost = max(gapMost, gap)
    guard let lastInputs else { return }
    let age = now - lastInputs + (statistics.roundTrip ?? .zero) / 2
    stateAge.record(age)
    second.age = max(second.age, age)
  }

  /// Updates `line` if a second has passed since the last update, and returns whether it has.
  mutating func endSecond(
    _ statistics: PeerStatistics, _ bytes: (sent: UInt64, received: UInt64),
    rollbacks: Int, at now: Instant
  ) -> Bool {
    guard let secondStart else {
      (self.secondStart, self.bytes) = (now, bytes)
      return false
    }
    let seconds = Double((now - secondStart).wholeNanoseconds) / 1e9
    guard seconds >= 1 else { return false }
    let rate = { (count: UInt64) in Int((Double(count) / seconds).rounded()) }
    line = Self.line(
      statistics, age: second.age, rollbacks: max(0, rollbacks - self.rollbacks),
      correction: second.most, sent: rate(bytes.sent - self.bytes.sent),
      received: rate(bytes.received - self.bytes.received))
    (self.secondStart, self.bytes, self.rollbacks) = (now, bytes, rollbacks)
    second = (0, .zero)
    return true
  }

  /// Returns the line about one second. `correction` is the length of the longest correction in
  /// meters; `sent` and `received` are in bytes per second.
  static func line(
    _ statistics: PeerStatistics, age: Duration, rollbacks: Int, correction: Double, sent: Int,
    received: Int
  ) -> String {
    let roundTrip = (statistics.roundTrip ?? .zero).inMilliseconds
    return "RTT \(short(roundTrip)) ms · loss \(short(statistics.lossRate * 100)) % · "
      + "age \(short(age.inMilliseconds)) ms · \(rollbacks) rollbacks ≤ "
      + "\(short(correction * 1_000)) mm · \(short(sent))/\(short(received)) B/s"
  }

  /// Returns a number rounded to one decimal, or to a whole number from 100 on.
  private static func short(_ value: Double) -> String {
    value < 99.95 ? "\((value * 10).rounded() / 10)" : "\(Int(value.rounded()))"
  }

  /// Returns a count, in thousands from 10,000 on.
  private static func short(_ count: Int) -> String {
    count < 10_000 ? "\(count)" : "\(count / 1_000)k"
  }
}
