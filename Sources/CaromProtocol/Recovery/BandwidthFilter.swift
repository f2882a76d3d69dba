/// The highest delivery rate of the current and the previous cycle, in bytes per second.
struct BandwidthFilter: Sendable {
  private var current = 0.0
  private var previous = 0.0

  var value: Double { max(current, previous) }

  /// Adds a sample of the delivery rate. If the application limited the rate, the sample counts
  /// only if it raises the estimate.
  mutating func add(_ rate: Double, isAppLimited: Bool) {
    if !isAppLimited || rate > value { current = max(current, rate) }
  }

  /// Begins a new cycle. Keeps the samples of the cycle that ends now, and drops those of the cycle
  /// before it.
  mutating func beginCycle() { (previous, current) = (current, 0) }

  /// Replaces all samples with `rate`.
  mutating func reset(to rate: Double) { (current, previous) = (rate, 0) }
}
