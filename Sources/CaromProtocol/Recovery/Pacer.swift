/// Spreads packets evenly over time: each packet delays the next. Times are in nanoseconds.
struct Pacer: Sendable {
  /// The longest delay that a sender may make up for by sending faster: 4 ms, because timers and
  /// busy computers can be late by milliseconds.
  private static let maximumCatchUp: Int64 = 4_000_000
  /// How long the sender sleeps past the time at which the next packet is due, so that it can send
  /// several packets together: 0.5 ms.
  static let quantum: Int64 = 500_000
  /// The maximum number of bytes of urgent packets that may be sent ahead of schedule.
  static let maximumDebt = 4_096

  /// The time at which the next packet is due, in nanoseconds.
  private(set) var next: Int64 = .min

  /// Returns the number of bytes that may be sent now at `rate` bytes per second; negative if the
  /// next packet is due after `now`.
  @inline(__always) func credit(at now: Int64, rate: Double) -> Int {
    let behind = now - max(next, now - Self.maximumCatchUp)
    return Int(Double(behind) * rate / 1e9)
  }

  /// Delays the next packet by the time that sending `bytes` bytes takes at `rate` bytes per
  /// second.
  @inline(__always) mutating func recordSent(_ bytes: Int, at now: Int64, rate: Double) {
    next = max(next, now - Self.maximumCatchUp) + Int64(Double(bytes) * 1e9 / rate)
  }

  /// Reduces the debt of bytes sent ahead of schedule to at most `2 * maximumDebt` at the current
  /// rate, because it may have been incurred at a lower rate.
  mutating func limitDebt(at now: Int64, rate: Double) {
    next = min(next, now + Int64(Double(2 * Self.maximumDebt) * 1e9 / rate))
  }
}
