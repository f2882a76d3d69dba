import CaromCore

/// Draws what others do between the samples that came, a little behind the newest: as little as the
/// line allows.
///
/// Samples carry their tick; they may come late, twice, in any order or not at all. The time that
/// is drawn moves evenly: where the delay changes it runs up to 5 % faster or slower.
///
/// One for each sender, not for each thing: a sample holds all that is drawn of a tick.
public struct Interpolator<Sample: Interpolatable>: Sendable {
  /// What is to be drawn at a time.
  public struct Frame: Sendable {
    /// The value.
    public var value: Sample
    /// Whether nothing newer was there: the newest sample stands still.
    public var isStarved: Bool
  }

  /// How many samples are kept.
  public static var capacity: Int { 256 }
  /// Farther off than this, seconds, the drawn time jumps.
  static var jump: Double { 0.25 }

  /// The delay and how it is found.
  public private(set) var delay: InterpolationDelay
  /// How many frames were drawn, and how many of them had nothing newer.
  public private(set) var frames = (drawn: 0, starved: 0)

  private let rate: Double
  private var samples: [(tick: Tick, sample: Sample)] = []
  /// What is drawn: seconds of the samples' clock, and when that was.
  private var drawn: (time: Double, at: Instant)?

  /// For samples of every `stride`-th tick at `rate` ticks a second; `underruns` is the share of
  /// the time that may have nothing newer.
  public init(rate: Int, every stride: Int = 1, underruns: Double = 0.001) {
    precondition(rate > 0 && stride > 0, "ticks a second, and ticks from sample to sample")
    self.rate = Double(rate)
    delay = InterpolationDelay(
      interval: Double(stride) / Double(rate), underruns: underruns)
    samples.reserveCapacity(Self.capacity)
  }

  /// How far behind the newest possible news is drawn.
  public var seconds: Double { delay.seconds }

  /// A sample of `tick` came at `now`; one that is there already changes nothing.
  public mutating func insert(_ sample: Sample, of tick: Tick, at now: Instant) {
    guard delay.note(made: Double(tick.rawValue) / rate, arrival: seconds(now)) else { return }
    var place = samples.count
    while place > 0, samples[place - 1].tick >= tick { place -= 1 }
    if place < samples.count, samples[place].tick == tick { return }
    if samples.count == Self.capacity {
      guard place > 0 else { return }  // older than everything that is kept
      samples.removeFirst()
      place -= 1
    }
    samples.insert((tick, sample), at: place)
  }

  /// What is to be drawn at `now`; `nil` before the first sample.
  public mutating func frame(at now: Instant) -> Frame? {
    guard let first = samples.first, let last = samples.last else { return nil }
    let time = moveDrawn(to: now)
    frames.drawn += 1
    let end = Double(last.tick.rawValue) / rate
    if time >= end {
      if time > end { frames.starved += 1 }
      return Frame(value: last.sample, isStarved: time > end)
    }
    guard time > Double(first.tick.rawValue) / rate else {
      return Frame(value: first.sample, isStarved: false)
    }
    var place = samples.count - 1
    while place > 0, Double(samples[place - 1].tick.rawValue) / rate > time { place -= 1 }
    let (a, b) = (samples[place - 1], samples[place])
    let interval = Double(a.tick.distance(to: b.tick)) / rate
    let fraction = (time - Double(a.tick.rawValue) / rate) / interval
    return Frame(
      value: .between(a.sample, b.sample, fraction: min(max(fraction, 0), 1), interval: interval),
      isStarved: false)
  }

  /// The tick that is drawn, with its fraction: what a server is told for lag compensation.
  public var drawnTick: Double? { drawn.map { $0.time * rate } }

  /// The drawn time at `now`: on its way to where it should be.
  private mutating func moveDrawn(to now: Instant) -> Double {
    let wanted = seconds(now) - (delay.leastTransit ?? 0) - delay.seconds
    guard let drawn else {
      self.drawn = (wanted, now)
      return wanted
    }
    let elapsed = max(0, Double((now - drawn.at).wholeNanoseconds) / 1e9)
    let plain = drawn.time + elapsed
    let error = wanted - plain
    var time = plain + min(max(error, -0.05 * elapsed), 0.05 * elapsed)
    if error.magnitude > Self.jump { time = wanted }
    self.drawn = (time, now)
    return time
  }

  private func seconds(_ instant: Instant) -> Double { Double(instant.nanoseconds) / 1e9 }
}
