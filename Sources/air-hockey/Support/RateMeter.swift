import CaromCore

/// Measures the rate of events, such as frames, in events per second.
struct RateMeter {
  /// The rate over the last period of at least a second; 0 during the first period.
  private(set) var perSecond = 0
  private var count = 0
  private var begin: Instant?

  /// Adds `more` events at `now`.
  mutating func record(_ more: Int, at now: Instant) {
    guard let begin else {
      begin = now
      return
    }
    count += more
    let elapsed = now - begin
    guard elapsed >= .seconds(1) else { return }
    perSecond = Int((Double(count) * 1e9 / Double(elapsed.wholeNanoseconds)).rounded())
    count = 0
    self.begin = now
  }
}
