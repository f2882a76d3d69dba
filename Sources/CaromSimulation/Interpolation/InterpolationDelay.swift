import CaromCore

/// Chooses the interpolation delay: the shortest delay with which drawing runs out of samples for
/// no more than a given share of the time.
///
/// It records the age of the newest sample in a slowly decaying histogram, weighted by time, and
/// chooses the age that is exceeded for only the given share of the time. This covers jitter, loss
/// and the send interval without measuring them separately.
public struct InterpolationDelay: Hashable, Sendable {
  /// The maximum delay in seconds.
  public static let limit = 1.0
  /// The width of a histogram bin in seconds.
  static let binWidth = 0.000_25
  static let binCount = 4_000
  /// The maximum number of seconds by which the time between two samples on the sender's clock may
  /// exceed the time between their arrivals on the local clock. If the difference is larger, the
  /// later sample is ignored, because its time must be wrong.
  static let farthest = 10.0
  /// The time in seconds after which a measurement's weight has fallen to 1/e.
  static let memory = 120.0

  /// The tolerated fraction of time without samples to draw, from 0 to 1.
  public let underruns: Double
  /// The time between samples in seconds.
  public let interval: Double
  /// The shortest measured time from a sample's creation to its arrival, in seconds, or nil before
  /// the first sample. It includes the unknown offset between the two clocks.
  public private(set) var leastTransit: Double?
  /// The chosen delay in seconds. It is added to `leastTransit`.
  public private(set) var seconds: Double

  /// The histogram: the weighted time for which the newest sample had each age. Recent time weighs
  /// more, because `unit`, the weight of new entries, grows.
  private var bins: [Double] = []
  private var total = 0.0
  private var unit = 1.0
  private var newest: Double?
  private var lastArrival = 0.0
  private var windowLeast = Double.infinity
  private var windowEnd = 0.0
  private var known = 0.0

  /// Creates a delay for samples that are created every `interval` seconds, where `interval` is
  /// above 0 and at most 1. `underruns` is the tolerated fraction of time without samples to draw,
  /// above 0 and below 1.
  public init(interval: Double, underruns: Double = 0.001) {
    precondition(
      interval > 0 && interval <= 1,
      "the interval between samples must be above 0 and at most 1 second")
    precondition(underruns > 0 && underruns < 1, "the share of underruns must be between 0 and 1")
    self.interval = interval
    self.underruns = underruns
    seconds = min(3 * interval, Self.limit)
    bins = Array(repeating: 0, count: Self.binCount)
  }

  /// Records a sample that was created at `made` on the sender's clock and arrived at `arrival` on
  /// the local clock, both in seconds. Returns false if the sample was ignored because its creation
  /// time is impossibly far ahead.
  @discardableResult
  public mutating func recordSample(made: Double, arrival: Double) -> Bool {
    if let newest, made - newest > arrival - lastArrival + Self.farthest { return false }
    observe(made: made, arrival: arrival)
    return true
  }

  private mutating func observe(made: Double, arrival: Double) {
    let transit = arrival - made
    follow(transit, at: arrival)
    guard let newest else {
      self.newest = made
      lastArrival = arrival
      return
    }
    guard made > newest else { return }
    addAges(until: arrival, newest)
    self.newest = made
    lastArrival = arrival
    choose()
  }

  /// Adds to the histogram the ages that the newest sample had between the last arrival and the
  /// current arrival.
  private mutating func addAges(until arrival: Double, _ newest: Double) {
    guard let leastTransit else { return }
    let end = arrival - newest - leastTransit
    let start = end - (arrival - lastArrival)
    let span = end - start
    guard span > 0 else { return }
    unit *= 1 + span / Self.memory
    known += span
    var low = max(0, start)
    while low < min(end, Self.limit) {
      let bin = min(Self.binCount - 1, Int(low / Self.binWidth))
      let high = max(min(end, Double(bin + 1) * Self.binWidth), low + 1e-9)
      bins[bin] += (high - low) * unit
      low = high
    }
    if end > Self.limit { bins[Self.binCount - 1] += (end - max(start, Self.limit)) * unit }
    total += span * unit
    if unit > 1e100 { shrink() }
  }

  private mutating func choose() {
    guard known > 20 * interval else { return }
    let allowed = total * underruns
    var over = 0.0
    var bin = Self.binCount - 1
    while bin > 0, over + bins[bin] <= allowed {
      over += bins[bin]
      bin -= 1
    }
    let part = bins[bin] > 0 ? (allowed - over) / bins[bin] : 0
    let found = (Double(bin + 1) - min(max(part, 0), 1)) * Self.binWidth
    // With few measurements the delay stays at two intervals or more.
    let least = known < 300 * interval ? min(2 * interval, Self.limit) : 0
    seconds = max(found, least)
  }

  /// Tracks the shortest transit time. A shorter time applies immediately. A longer time applies
  /// only after half a minute without any transit as short as the previous minimum, so that clock
  /// drift does not add to the delay.
  private mutating func follow(_ transit: Double, at now: Double) {
    if now > windowEnd {
      if let leastTransit, windowLeast.isFinite, windowLeast > leastTransit + Self.binWidth {
        move(by: leastTransit - windowLeast)
        self.leastTransit = windowLeast
      }
      windowLeast = .infinity
      windowEnd = now + 30
    }
    windowLeast = min(windowLeast, transit)
    guard let leastTransit else {
      leastTransit = transit
      return
    }
    guard transit < leastTransit else { return }
    move(by: leastTransit - transit)
    self.leastTransit = transit
  }

  /// Shifts every age in the histogram by `seconds`.
  private mutating func move(by seconds: Double) {
    let bins = seconds / Self.binWidth
    let count = Int(min(max(bins < 0 ? bins - 0.5 : bins + 0.5, -1e6), 1e6))
    guard count != 0, total > 0 else { return }
    var moved = Array(repeating: 0.0, count: Self.binCount)
    for bin in moved.indices {
      moved[min(max(bin + count, 0), Self.binCount - 1)] += self.bins[bin]
    }
    self.bins = moved
  }

  private mutating func shrink() {
    for bin in bins.indices { bins[bin] /= unit }
    total /= unit
    unit = 1
  }
}
