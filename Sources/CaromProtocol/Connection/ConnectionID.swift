/// The id of a connection within one process. Ids are assigned in ascending order and are never
/// reused.
public struct ConnectionID: Hashable, Comparable, Sendable {
  /// The connection's number. The first connection has number 1; hosts that share a port use
  /// separate ranges of numbers.
  public let number: UInt64

  package init(_ number: UInt64) { self.number = number }

  /// Orders connections by their numbers.
  public static func < (a: ConnectionID, b: ConnectionID) -> Bool { a.number < b.number }
}

extension ConnectionID {
  private static let memberShift: UInt64 = 48

  /// Returns the id that precedes the id of a group member's first connection.
  static func beginning(of member: Int) -> ConnectionID {
    ConnectionID(UInt64(member) << memberShift)
  }

  /// The index in its group of the member that has the connection; 0 without a group.
  package var member: Int { Int(number >> Self.memberShift) }
}
