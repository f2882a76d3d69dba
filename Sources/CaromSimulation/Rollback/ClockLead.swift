/// Keeps a client's clock just far enough ahead of the server that its inputs arrive before their
/// tick is made: half a round trip and a buffer that follows what the server says of them.
///
/// The buffer is a tick, twice the mean deviation, and a little more after each input that was
/// missed, which wears off. The client never skips or doubles a tick for it: it runs up to 5 %
/// faster or slower.
public struct ClockLead: Hashable, Sendable {
  /// Ticks that the buffer has where inputs come evenly.
  public static let minimumBuffer = 1.0
  /// The longest buffer, ticks.
  public static let maximumBuffer = 12.0
  /// How much longer the buffer gets by an input that was missed, ticks.
  static let surcharge = 0.25
  /// How much of that is left after a tick.
  static let wear = 0.9995

  /// By how many ticks inputs arrive before they are needed, as the server says.
  public private(set) var arrivalMargin: Double?
  /// The buffer that is wanted, ticks.
  public private(set) var buffer = minimumBuffer
  private var deviation = 0.0
  private var extra = 0.0

  /// Nothing known yet.
  public init() {}

  /// The server's figures, sixteenths of a tick.
  mutating func note(_ timing: InputHeader.Timing) {
    arrivalMargin = Double(timing.advantage) / 16
    deviation = Double(timing.lead) / 16
    settle()
  }

  /// An input was decided otherwise than it was sent.
  mutating func noteMissed() {
    extra = min(extra + Self.surcharge, 4)
    settle()
  }

  /// A tick passed.
  mutating func tick() {
    extra *= Self.wear
    settle()
  }

  private mutating func settle() {
    buffer = min(Self.minimumBuffer + 2 * deviation + extra, Self.maximumBuffer)
  }

  /// The clock's speed, millionths.
  func speed(rate: Int) -> Int {
    guard let arrivalMargin else { return 1_000_000 }
    return ClockSync.speed(lead: arrivalMargin - buffer, rate: rate)
  }
}
