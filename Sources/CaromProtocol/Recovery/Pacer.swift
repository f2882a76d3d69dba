/// Spreads packets over time: each one pushes the next away. Everything is nanoseconds.
struct Pacer: Sendable {
  /// How far a sender that was late, or had nothing to send, may catch up: timers and busy
  /// machines are late by milliseconds.
  static let catchUp: Int64 = 4_000_000
  /// What is worth waking up for.
  static let quantum: Int64 = 500_000
  /// Bytes that urgent packets may leave before their time.
  static let maximumDebt = 4_096

  /// When the next packet may leave.
  private(set) var next: Int64 = .min

  /// Bytes that may leave now; negative when none may.
  func credit(at now: Int64, rate: Double) -> Int {
    let behind = now - max(next, now - Self.catchUp)
    return Int(Double(behind) * rate / 1e9)
  }

  mutating func note(_ bytes: Int, at now: Int64, rate: Double) {
    next = max(next, now - Self.catchUp) + Int64(Double(bytes) * 1e9 / rate)
  }

  /// Forgets a debt that was made at another rate.
  mutating func limitDebt(at now: Int64, rate: Double) {
    next = min(next, now + Int64(Double(2 * Self.maximumDebt) * 1e9 / rate))
  }
}
