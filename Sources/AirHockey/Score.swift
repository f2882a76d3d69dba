/// The number of goals that each player has scored.
public struct Score: Hashable, Sendable {
  /// The number of goals that the home player has scored.
  public var home: UInt8
  /// The number of goals that the away player has scored.
  public var away: UInt8

  /// Creates a score, 0-0 by default.
  public init(home: UInt8 = 0, away: UInt8 = 0) {
    self.home = home
    self.away = away
  }

  /// Accesses the number of goals of the player in a seat.
  public subscript(seat: Seat) -> UInt8 {
    get { seat == .home ? home : away }
    set { if seat == .home { home = newValue } else { away = newValue } }
  }

  /// The same score with the seats exchanged.
  public var mirrored: Score { Score(home: away, away: home) }
}

extension Score: CustomStringConvertible {
  /// The score with the home player's goals first, such as "3-2".
  public var description: String { "\(home)-\(away)" }
}
