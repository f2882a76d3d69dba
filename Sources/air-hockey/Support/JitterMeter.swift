/// Percentiles of the last 65,536 durations: 18 minutes at 60 samples per second.
struct JitterMeter {
  /// The maximum number of stored samples, which take one megabyte.
  static let limit = 65_536

  private var samples: [Duration] = []
  private var next = 0

  /// Adds a sample. The sign is ignored, so that early ticks count as much as late ones.
  mutating func record(_ sample: Duration) {
    let size = sample < .zero ? .zero - sample : sample
    if samples.count < Self.limit {
      samples.append(size)
    } else {
      samples[next] = size
      next = (next + 1) % Self.limit
    }
  }

  /// Returns the `percent`th percentile: the smallest sample that is at least as long as `percent`
  /// percent of the samples; zero if there are no samples.
  func percentile(_ percent: Int) -> Duration {
    guard !samples.isEmpty else { return .zero }
    let rank = (samples.count * percent + 99) / 100
    return samples.sorted()[max(rank, 1) - 1]
  }
}
