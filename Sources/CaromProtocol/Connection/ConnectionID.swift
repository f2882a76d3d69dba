/// Identifies a connection within one process. Numbers ascend and are never reused.
public struct ConnectionID: Hashable, Comparable, Sendable {
  /// The number, 1 for the first connection. Hosts that share a port use numbers in separate
  /// ranges.
  public let number: UInt64

  package init(_ number: UInt64) { self.number = number }

  /// Orders connections by their numbers.
  public static func < (a: ConnectionID, b: ConnectionID) -> Bool { a.number < b.number }
}

extension ConnectionID {
  private static let memberShift: UInt64 = 48

  /// Returns the id before the first connection of a member of a group of hosts.
  static func beginning(of member: Int) -> ConnectionID {
    ConnectionID(UInt64(member) << memberShift)
  }

  /// The member of the group of hosts that the connection belongs to; 0 without a group.
  package var member: Int { Int(number >> Self.memberShift) }
}
