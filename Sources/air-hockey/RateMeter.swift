import CaromCore

/// How many things happened in the last whole second.
struct RateMeter {
  /// The count of the last whole second; 0 within the first.
  private(set) var perSecond = 0
  private var count = 0
  private var begin: Instant?

  /// `more` things happened at `now`.
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
