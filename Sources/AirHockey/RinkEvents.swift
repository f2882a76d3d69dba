/// The events of one tick. Each event is reported only in the tick in which it occurs.
public struct RinkEvents: Hashable, Sendable {
  /// A set of things that the puck touched.
  public struct Touches: OptionSet, Hashable, Sendable {
    /// The set as bits, one for each thing that the puck can touch.
    public let rawValue: UInt8
    /// Creates a set of touches from its bits.
    public init(rawValue: UInt8) { self.rawValue = rawValue }
    /// The puck touched a rail.
    public static let rail = Touches(rawValue: 1)
    /// The puck touched a goal post.
    public static let post = Touches(rawValue: 2)
    /// The puck touched home's mallet.
    public static let homeMallet = Touches(rawValue: 4)
    /// The puck touched away's mallet.
    public static let awayMallet = Touches(rawValue: 8)
  }

  /// What the puck touched in this tick.
  public var touches: Touches = []
  /// The largest closing speed among the touches, in meters per second. It determines the volume of
  /// the sound.
  public var impact = 0.0
  /// The seat that scored a goal, or nil if no goal was scored.
  public var goal: Seat?
  /// The seat that kept the puck too long and therefore loses it, or nil if there was no foul.
  public var foul: Seat?
  /// The seat in front of which the puck was placed for a serve, or nil if there was none.
  public var serve: Seat?
  /// Whether the puck was released for a face-off.
  public var faceOff = false
  /// The seat that won the match in this tick, or nil if the match did not end.
  public var winner: Seat?

  /// Creates an empty set of events.
  public init() {}
}
