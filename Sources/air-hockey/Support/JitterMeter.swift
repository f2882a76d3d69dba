import CaromCore

/// Percentiles of the last 16,384 durations, which are four and a half minutes at 60 samples per
/// second, and the longest of all.
struct JitterMeter {
  /// The maximum number of stored samples, which take 64 KiB.
  static let limit = 16_384

  /// The stored samples, in microseconds.
  private var samples: [UInt32] = []
  private var next = 0
  /// The longest sample ever added.
  private(set) var most = Duration.zero

  /// Adds a sample, of which whole microseconds count. The sign is ignored, so that early ticks
  /// count as much as late ones.
  mutating func record(_ sample: Duration) {
    let size = sample < .zero ? .zero - sample : sample
    most = max(most, size)
    let microseconds = UInt32(clamping: size.wholeNanoseconds / 1_000)
    if samples.count < Self.limit {
      samples.append(microseconds)
    } else {
      samples[next] = microseconds
      next = (next + 1) % Self.limit
    }
  }

  /// Returns the `percent`th percentile: the smallest sample that is at least as long as `percent`
  /// percent of the samples; zero if there are no samples.
  func percentile(_ percent: Int) -> Duration {
    guard !samples.isEmpty else { return .zero }
    var rank = max((samples.count * percent + 99) / 100, 1) - 1
    // Digit by digit: to sort the samples of many tables takes longer than their host has for its
    // goodbyes.
    var candidates = samples
    for shift in stride(from: 24, through: 0, by: -8) {
      var counts = [Int](repeating: 0, count: 256)
      for sample in candidates { counts[Int(sample >> shift) & 0xFF] += 1 }
      var digit = 0
      while rank >= counts[digit] {
        rank -= counts[digit]
        digit += 1
      }
      candidates.removeAll { Int($0 >> shift) & 0xFF != digit }
    }
    return .microseconds(candidates[0])
  }
}
