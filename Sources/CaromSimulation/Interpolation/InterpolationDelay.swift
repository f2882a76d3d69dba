import CaromCore

/// Finds how far behind the newest news to draw: the shortest delay with which no more than a given
/// share of the time has nothing newer to draw towards.
///
/// It keeps, with slow forgetting, how much of the time the newest sample was how old, and takes
/// the age that is exceeded by that share of it: that covers jitter, loss and the send interval at
/// once, and needs to know none of them.
public struct InterpolationDelay: Hashable, Sendable {
  /// The longest delay: a second.
  public static let limit = 1.0
  /// Seconds of a bin.
  static let binWidth = 0.000_25
  static let binCount = 4_000
  /// How far a sample may run ahead of time, seconds: more than any line holds back.
  static let farthest = 10.0
  /// What is known weighs a third as much after so many seconds.
  static let memory = 120.0

  /// The share of the time that may have nothing newer, 0 to 1.
  public let underruns: Double
  /// Seconds between samples.
  public let interval: Double
  /// The least time from a sample's making to its coming, seconds on the difference of both clocks.
  public private(set) var leastTransit: Double?
  /// The delay above the least transit, seconds.
  public private(set) var seconds: Double

  /// Time for each age, in units that grow, so that what is old weighs less.
  private var bins: [Double] = []
  private var total = 0.0
  private var unit = 1.0
  private var newest: Double?
  private var lastArrival = 0.0
  private var windowLeast = Double.infinity
  private var windowEnd = 0.0
  private var known = 0.0

  /// For samples made every `interval` seconds.
  public init(interval: Double, underruns: Double = 0.001) {
    precondition(interval > 0 && interval <= 1, "1 sample a second at least")
    precondition(underruns > 0 && underruns < 1, "a share of the time")
    self.interval = interval
    self.underruns = underruns
    seconds = min(3 * interval, Self.limit)
    bins = Array(repeating: 0, count: Self.binCount)
  }

  /// A sample that was made at `made` came at `arrival`, seconds on two clocks. False for one that
  /// claims to be much further on than the time that passed: it does not count.
  @discardableResult
  public mutating func note(made: Double, arrival: Double) -> Bool {
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

  /// From the last arrival to this one, the newest sample grew older.
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
    // Little is known at first: no less than an interval more than that.
    seconds = known < 300 * interval ? max(found, 2 * interval) : found
  }

  /// Follows the least transit: at once downwards, upwards after two windows of half a minute, so
  /// that clocks which drift apart are no delay.
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

  /// Every age is that much more, or less.
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
