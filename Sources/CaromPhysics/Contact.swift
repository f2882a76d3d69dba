/// A contact in a step.
public struct Contact: Hashable, Sendable {
  /// What a disc met.
  public enum Kind: Hashable, Sendable {
    /// A rail y = +-half width.
    case railY
    /// A rail x = +-half length.
    case railX
    /// A goal post.
    case post
    /// The goal line at x = side * half length, crossed by the centre; the side is -1 or 1.
    case goal(side: Int)
    /// Another disc, of a higher id.
    case disc(other: Int)
  }

  /// Seconds from the step's beginning.
  public var time: Double
  /// The disc, the one of the lower id where two met.
  public var disc: Int
  /// What it met.
  public var kind: Kind
}
