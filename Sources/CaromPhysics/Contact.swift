/// A contact that happened in a step.
public struct Contact: Hashable, Sendable {
  /// What a disc touched.
  public enum Kind: Hashable, Sendable {
    /// A long rail, at y = ±`halfWidth`.
    case railY
    /// A short rail, at x = ±`halfLength`.
    case railX
    /// A goal post.
    case post
    /// The goal line at x = side × `halfLength`, which the disc's center crossed. The side is -1
    /// or 1.
    case goal(side: Int)
    /// Another disc, whose id is higher than that of `disc`.
    case disc(other: Int)
  }

  /// The time of the contact, in seconds since the start of the step.
  public var time: Double
  /// The id of the disc; the lower id if two discs touched.
  public var disc: Int
  /// What the disc touched.
  public var kind: Kind
}
