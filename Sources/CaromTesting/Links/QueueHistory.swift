import CaromCore

/// The length of a link's queue over time, stored as the peak of each interval in bounded memory.
///
/// When the number of samples exceeds `limit`, adjacent intervals are merged, which halves the
/// resolution but preserves all peaks.
public struct QueueHistory: Hashable, Sendable {
  /// The peak of the queue in one interval.
  public struct Sample: Hashable, Sendable {
    /// The start of the interval.
    public let time: Instant
    /// The greatest length of the queue in the interval, in bytes, measured after each arrival.
    public internal(set) var bytes: Int
  }

  /// The maximum number of samples stored.
  public static let limit = 4_096

  /// The length of an interval, initially 1 ms. It doubles each time intervals are merged.
  public private(set) var interval = Duration.milliseconds(1)
  /// The samples of all intervals with arrivals, earliest first.
  public private(set) var samples: [Sample] = []
  private var width: Int64 = 1_000_000

  /// Creates an empty history.
  public init() {}

  /// The greatest length of the queue so far, in bytes.
  public var peak: Int { samples.reduce(0) { max($0, $1.bytes) } }

  mutating func record(_ bytes: Int, at now: Instant) {
    let start = Instant(nanoseconds: now.nanoseconds / width * width)
    if let last = samples.last, last.time == start {
      samples[samples.count - 1].bytes = max(last.bytes, bytes)
    } else {
      samples.append(Sample(time: start, bytes: bytes))
    }
    if samples.count > Self.limit { coarsen() }
  }

  private mutating func coarsen() {
    width *= 2
    interval = .nanoseconds(width)
    let fine = samples
    samples = []
    for sample in fine { record(sample.bytes, at: sample.time) }
  }
}
