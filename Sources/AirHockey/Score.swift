/// Goals of both seats.
public struct Score: Hashable, Sendable {
  /// Goals that home scored.
  public var home: UInt8
  /// Goals that away scored.
  public var away: UInt8

  /// A score; 0-0 by default.
  public init(home: UInt8 = 0, away: UInt8 = 0) {
    self.home = home
    self.away = away
  }

  /// The goals of one seat.
  public subscript(seat: Seat) -> UInt8 {
    get { seat == .home ? home : away }
    set { if seat == .home { home = newValue } else { away = newValue } }
  }

  /// Seen from the other end.
  public var mirrored: Score { Score(home: away, away: home) }
}

extension Score: CustomStringConvertible {
  /// Home's goals first, as in "3-2".
  public var description: String { "\(home)-\(away)" }
}
