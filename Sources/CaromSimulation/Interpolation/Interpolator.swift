import CaromCore

/// Interpolates between the samples received from a remote peer, for drawing. The drawn time is the
/// moment, on the sender's clock, whose state is drawn; it lags the present by the shortest delay
/// that the connection allows.
///
/// Each sample carries its tick. Samples may arrive late, twice, out of order or not at all. The
/// drawn time advances evenly: when the delay changes, the drawn time runs up to 5 % faster or
/// slower.
///
/// Use one interpolator per sender, not per object; a sample holds everything that is drawn for a
/// tick.
public struct Interpolator<Sample: Interpolatable>: Sendable {
  /// The value to draw at a point in time.
  public struct Frame: Sendable {
    /// The interpolated value.
    public var value: Sample
    /// Whether the drawn time is past the newest sample, so that `value` stands still.
    public var isStarved: Bool
  }

  /// The maximum number of stored samples.
  public static var capacity: Int { 256 }
  /// The difference between the drawn time and its ideal value, in seconds, above which the drawn
  /// time jumps instead of changing its speed.
  static var jump: Double { 0.25 }

  /// The interpolation delay and its measurements.
  public private(set) var delay: InterpolationDelay
  /// The number of frames drawn, and the number of those that were starved (see `isStarved`).
  public private(set) var frames = (drawn: 0, starved: 0)

  private let rate: Double
  private var samples: [(tick: Tick, sample: Sample)] = []
  /// The time shown by the last frame, in seconds on the sender's clock, and the local time at
  /// which that frame was drawn. Nil before the first frame.
  private var drawn: (time: Double, at: Instant)?

  /// Creates an interpolator for samples of every `stride`-th tick at `rate` ticks per second.
  /// `underruns` is the tolerated fraction of time without samples to draw, from 0 to 1.
  public init(rate: Int, every stride: Int = 1, underruns: Double = 0.001) {
    precondition(rate > 0 && stride > 0, "rate and stride must be positive")
    self.rate = Double(rate)
    delay = InterpolationDelay(
      interval: Double(stride) / Double(rate), underruns: underruns)
    samples.reserveCapacity(Self.capacity)
  }

  /// The current interpolation delay in seconds.
  public var seconds: Double { delay.seconds }

  /// Inserts the sample of `tick`, which arrived at `now`. A sample of a tick that is already
  /// stored is ignored.
  public mutating func insert(_ sample: Sample, of tick: Tick, at now: Instant) {
    guard delay.recordSample(made: Double(tick.rawValue) / rate, arrival: seconds(now)) else {
      return
    }
    var place = samples.count
    while place > 0, samples[place - 1].tick >= tick { place -= 1 }
    if place < samples.count, samples[place].tick == tick { return }
    if samples.count == Self.capacity {
      guard place > 0 else { return }  // The sample is older than all stored ones.
      samples.removeFirst()
      place -= 1
    }
    samples.insert((tick, sample), at: place)
  }

  /// Returns the value to draw at `now`, or nil before the first sample.
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

  /// The time shown by the last frame, in ticks with a fractional part, or nil before the first
  /// frame. A server needs it for lag compensation.
  public var drawnTick: Double? { drawn.map { $0.time * rate } }

  /// Advances the drawn time by the time since the last frame. To bring it closer to the chosen
  /// delay behind the sender, the advance may be up to 5 % longer or shorter, or a jump if the
  /// difference exceeds `jump`. Returns the drawn time in seconds of the sender's clock.
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

/// A value that can be interpolated between two samples for drawing.
public protocol Interpolatable: Sendable {
  /// Returns the value that is `fraction`, from 0 to 1, of the way from `a` to `b`. `interval` is
  /// the time between the two samples in seconds. Use `InterpolationCurve` for each coordinate.
  static func between(_ a: Self, _ b: Self, fraction: Double, interval: Double) -> Self
}
