/// A link of one process, numbered in the order of opening; a number is never used again.
public struct LinkID: Hashable, Comparable, Sendable {
  /// The number, 1 for the first.
  public let number: UInt64

  package init(_ number: UInt64) { self.number = number }

  /// Orders by opening.
  public static func < (a: LinkID, b: LinkID) -> Bool { a.number < b.number }
}
