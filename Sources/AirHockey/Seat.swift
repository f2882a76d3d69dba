/// A player's end of the table.
public enum Seat: UInt8, Hashable, Sendable, CaseIterable {
  /// Defends the goal at -x; the host.
  case home = 0
  /// Defends the goal at +x.
  case away = 1

  /// The other end.
  @inlinable public var opponent: Seat { self == .home ? .away : .home }

  /// The sign of x at this end: -1 for home, +1 for away.
  @inlinable public var side: Double { self == .home ? -1 : 1 }
}
