/// Spreads packets evenly over time: each packet delays the next. Times are in nanoseconds.
struct Pacer: Sendable {
  /// How far behind schedule a sender may catch up: timers and busy machines are late by
  /// milliseconds.
  private static let maximumCatchUp: Int64 = 4_000_000
  /// The sender wakes up this much later than the next packet is due, so that it sends several.
  static let quantum: Int64 = 500_000
  /// How many bytes urgent packets may be sent ahead of schedule.
  static let maximumDebt = 4_096

  /// When the next packet is due.
  private(set) var next: Int64 = .min

  /// How many bytes may be sent now; negative if the schedule is ahead of `now`.
  func credit(at now: Int64, rate: Double) -> Int {
    let behind = now - max(next, now - Self.maximumCatchUp)
    return Int(Double(behind) * rate / 1e9)
  }

  /// Delays the next packet by the time that `bytes` take at `rate` bytes a second.
  mutating func recordSent(_ bytes: Int, at now: Int64, rate: Double) {
    next = max(next, now - Self.maximumCatchUp) + Int64(Double(bytes) * 1e9 / rate)
  }

  /// Bounds a debt that was incurred at a lower rate to twice `maximumDebt` at the current one.
  mutating func limitDebt(at now: Int64, rate: Double) {
    next = min(next, now + Int64(Double(2 * Self.maximumDebt) * 1e9 / rate))
  }
}
