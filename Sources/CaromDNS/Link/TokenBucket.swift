import CaromCore

/// So many at once, and one more after each interval: what keeps a storm from being answered by
/// a storm.
struct TokenBucket: Hashable, Sendable {
  /// Tokens at most, and at first.
  let capacity: Int
  /// Between two tokens that come back.
  let interval: Duration
  private var tokens: Int
  /// Up to when tokens came back.
  private var filled = Instant.zero

  init(capacity: Int, interval: Duration) {
    self.capacity = capacity
    self.interval = interval
    tokens = capacity
  }

  /// How many there are.
  mutating func available(at now: Instant) -> Int {
    let step = interval.wholeNanoseconds
    let count = max(0, now.nanoseconds - filled.nanoseconds) / step
    if tokens + Int(count) >= capacity {
      tokens = capacity
      filled = now
    } else {
      tokens += Int(count)
      filled = filled.advanced(byNanoseconds: count * step)
    }
    return tokens
  }

  /// Takes as many, or none where there are fewer.
  mutating func take(_ count: Int, at now: Instant) -> Bool {
    guard available(at: now) >= count else { return false }
    tokens -= count
    return true
  }
}
