/// Percentiles of durations, over the last 65,536 of them: at 60 a second, 18 minutes.
struct JitterMeter {
  /// A bound on memory: half a megabyte.
  static let limit = 65_536

  private var samples: [Duration] = []
  private var next = 0

  /// Takes one more; an earlier than due one counts by its size.
  mutating func record(_ sample: Duration) {
    let size = sample < .zero ? .zero - sample : sample
    if samples.count < Self.limit {
      samples.append(size)
    } else {
      samples[next] = size
      next = (next + 1) % Self.limit
    }
  }

  /// The smallest duration that `percent` of all do not exceed; zero where there are none.
  func percentile(_ percent: Int) -> Duration {
    guard !samples.isEmpty else { return .zero }
    let rank = (samples.count * percent + 99) / 100
    return samples.sorted()[max(rank, 1) - 1]
  }
}
