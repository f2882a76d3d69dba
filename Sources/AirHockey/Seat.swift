/// A player's side of the table.
public enum Seat: UInt8, Hashable, Sendable, CaseIterable {
  /// The host's side, which defends the goal at -x.
  case home = 0
  /// The client's side, which defends the goal at +x.
  case away = 1

  /// The opposite seat.
  @inlinable public var opponent: Seat { self == .home ? .away : .home }

  /// The sign of x on this side: -1 for home, +1 for away.
  @inlinable public var side: Double { self == .home ? -1 : 1 }
}
