/// Keeps a client's clock just far enough ahead of the server's clock that inputs arrive before the
/// server simulates their tick.
///
/// Inputs should arrive `buffer` ticks early: one tick, plus twice the mean deviation of the
/// arrivals as measured by the server, plus a surcharge that grows with every late input and decays
/// over time. The clock never skips or repeats a tick; it runs up to 5 % faster or slower.
public struct ClockLead: Hashable, Sendable {
  /// The buffer in ticks for inputs that arrive perfectly evenly.
  public static let minimumBuffer = 1.0
  /// The maximum value of `buffer`, in ticks.
  public static let maximumBuffer = 12.0
  /// The number of ticks that a late input adds to the buffer.
  static let surcharge = 0.25
  /// The factor by which the surcharge decays each tick.
  static let decay = 0.9995

  /// How early this client's inputs arrive at the server, in ticks, as the server reports it.
  /// Negative if they arrive late; nil before the first report.
  public private(set) var arrivalMargin: Double?
  /// The number of ticks by which the inputs should arrive early.
  public private(set) var buffer = minimumBuffer
  /// The number of ticks by which the inputs should arrive even earlier than `buffer` says.
  var surplus = 0.0
  private var deviation = 0.0
  private var extra = 0.0

  /// Creates a clock lead without measurements.
  public init() {}

  /// Records the server's report on this client's inputs: their mean arrival margin and its
  /// deviation, in sixteenths of a tick.
  mutating func record(_ timing: InputHeader.Timing) {
    arrivalMargin = Double(timing.advantage) / 16
    deviation = Double(timing.lead) / 16
    updateBuffer()
  }

  /// Records that the server replaced one of this client's inputs because it arrived late.
  mutating func recordLateInput() {
    extra = min(extra + Self.surcharge, 4)
    updateBuffer()
  }

  /// Applies one tick of decay to the surcharge for late inputs.
  mutating func tick() {
    extra *= Self.decay
    updateBuffer()
  }

  private mutating func updateBuffer() {
    buffer = min(Self.minimumBuffer + 2 * deviation + extra, Self.maximumBuffer)
  }

  /// Returns the clock speed, in parts per million of real time, that brings `arrivalMargin` to
  /// `buffer` and the surplus.
  func speed(rate: Int) -> Int {
    guard let arrivalMargin else { return 1_000_000 }
    return ClockSync.speed(lead: arrivalMargin - buffer - surplus, rate: rate)
  }
}
