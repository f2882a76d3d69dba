import CaromCore

/// How much waited in front of a link over time: the highest of each interval, in bounded memory.
///
/// Where there are more samples than the limit, intervals are joined two by two: the picture gets
/// coarser and no peak is lost.
public struct QueueHistory: Hashable, Sendable {
  /// The highest of one interval.
  public struct Sample: Hashable, Sendable {
    /// When the interval began.
    public let time: Instant
    /// The most bytes that waited in it, at moments when something came to the queue.
    public internal(set) var bytes: Int
  }

  /// The most samples.
  public static let limit = 4_096

  /// How long each interval is: 1 ms at first.
  public private(set) var interval = Duration.milliseconds(1)
  /// The intervals in which something came to the queue, earliest first.
  public private(set) var samples: [Sample] = []
  private var width: Int64 = 1_000_000

  /// Nothing yet.
  public init() {}

  /// The longest queue of all.
  public var highest: Int { samples.reduce(0) { max($0, $1.bytes) } }

  mutating func note(_ bytes: Int, at now: Instant) {
    let beginning = Instant(nanoseconds: now.nanoseconds / width * width)
    if let last = samples.last, last.time == beginning {
      samples[samples.count - 1].bytes = max(last.bytes, bytes)
    } else {
      samples.append(Sample(time: beginning, bytes: bytes))
    }
    if samples.count > Self.limit { coarsen() }
  }

  private mutating func coarsen() {
    width *= 2
    interval = .nanoseconds(width)
    let fine = samples
    samples = []
    for sample in fine { note(sample.bytes, at: sample.time) }
  }
}
