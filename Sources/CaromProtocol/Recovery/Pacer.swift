/// Spreads packets evenly over time: each packet delays the next. Times are in nanoseconds.
struct Pacer: Sendable {
  /// The longest delay for which a sender may catch up: 4 ms, since timers and busy machines can be
  /// late by milliseconds.
  private static let maximumCatchUp: Int64 = 4_000_000
  /// The time by which the sender wakes up after the next packet is due, so that it sends several
  /// packets at once: 0.5 ms.
  static let quantum: Int64 = 500_000
  /// The most bytes of urgent packets that may be sent ahead of schedule.
  static let maximumDebt = 4_096

  /// The time at which the next packet is due.
  private(set) var next: Int64 = .min

  /// The number of bytes that may be sent now; negative if the next packet is due after `now`.
  func credit(at now: Int64, rate: Double) -> Int {
    let behind = now - max(next, now - Self.maximumCatchUp)
    return Int(Double(behind) * rate / 1e9)
  }

  /// Delays the next packet by the time that `bytes` take at `rate` bytes a second.
  mutating func recordSent(_ bytes: Int, at now: Int64, rate: Double) {
    next = max(next, now - Self.maximumCatchUp) + Int64(Double(bytes) * 1e9 / rate)
  }

  /// Limits a debt that was incurred at a lower rate to twice `maximumDebt` at the current rate.
  mutating func limitDebt(at now: Int64, rate: Double) {
    next = min(next, now + Int64(Double(2 * Self.maximumDebt) * 1e9 / rate))
  }
}
