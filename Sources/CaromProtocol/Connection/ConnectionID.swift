/// A link of one process, numbered in the order of opening; a number is never used again.
public struct ConnectionID: Hashable, Comparable, Sendable {
  /// The number, 1 for the first; of hosts that share a port each counts in a range of its own.
  public let number: UInt64

  package init(_ number: UInt64) { self.number = number }

  /// Orders by opening.
  public static func < (a: ConnectionID, b: ConnectionID) -> Bool { a.number < b.number }
}

extension ConnectionID {
  private static let memberShift: UInt64 = 48

  /// What comes before the first link of a host of a group.
  static func beginning(of member: Int) -> ConnectionID {
    ConnectionID(UInt64(member) << memberShift)
  }

  /// The host of the group that it belongs to; 0 where there is none.
  package var member: Int { Int(number >> Self.memberShift) }
}
