/// What happened in one step. Everything in it happened exactly once, in that step.
public struct RinkEvents: Hashable, Sendable {
  /// What the puck touched.
  public struct Touches: OptionSet, Hashable, Sendable {
    /// The touches as bits.
    public let rawValue: UInt8
    /// The touches of these bits.
    public init(rawValue: UInt8) { self.rawValue = rawValue }
    /// A rail.
    public static let rail = Touches(rawValue: 1)
    /// A goal post.
    public static let post = Touches(rawValue: 2)
    /// Home's mallet.
    public static let homeMallet = Touches(rawValue: 4)
    /// Away's mallet.
    public static let awayMallet = Touches(rawValue: 8)
  }

  /// What the puck touched.
  public var touches: Touches = []
  /// The greatest closing speed among the touches, metres a second: how loud it was.
  public var impact = 0.0
  /// Who scored.
  public var goal: Seat?
  /// Who kept the puck too long and loses it.
  public var foul: Seat?
  /// Before whom the puck was placed for a serve.
  public var serve: Seat?
  /// Whether the puck was released for a face-off.
  public var faceOff = false
  /// Who won the match.
  public var winner: Seat?

  /// Nothing happened.
  public init() {}
}
