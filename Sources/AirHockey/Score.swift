/// The goals of both seats.
public struct Score: Hashable, Sendable {
  /// The goals that home has scored.
  public var home: UInt8
  /// The goals that away has scored.
  public var away: UInt8

  /// Creates a score, 0-0 by default.
  public init(home: UInt8 = 0, away: UInt8 = 0) {
    self.home = home
    self.away = away
  }

  /// The goals of a seat.
  public subscript(seat: Seat) -> UInt8 {
    get { seat == .home ? home : away }
    set { if seat == .home { home = newValue } else { away = newValue } }
  }

  /// The score with the seats exchanged.
  public var mirrored: Score { Score(home: away, away: home) }
}

extension Score: CustomStringConvertible {
  /// The score with home's goals first, such as "3-2".
  public var description: String { "\(home)-\(away)" }
}
