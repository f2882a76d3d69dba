import CaromCore
import CaromSimulation

/// Something that happened at the table and that both sides must hear of exactly once.
public struct TableEvent: Hashable, Sendable, PacketCodable {
  /// What happened; the seat is the one that it is about.
  public enum Kind: Hashable, Sendable {
    /// A match began, at 0-0.
    case matchStarted
    /// The seat scored.
    case goal(Seat)
    /// The seat holds the match.
    case paused(Seat)
    /// The seat no longer holds it.
    case resumed(Seat)
    /// The seat won.
    case matchEnded(winner: Seat)
    /// The host ends the session; the score is final.
    case sessionEnded
  }

  /// The host's tick at which it happened.
  public var tick: Tick
  /// What happened.
  public var kind: Kind
  /// Which match, counted from 1.
  public var match: UInt16
  /// The score after it.
  public var score: Score

  /// An event with the score after it.
  public init(tick: Tick, kind: Kind, match: UInt16, score: Score) {
    self.tick = tick
    self.kind = kind
    self.match = match
    self.score = score
  }

  /// Appends tick u64, code u8, seat u8, match u16, goals of home u8 and away u8.
  public func encode(into writer: inout PacketWriter) {
    writer.write(tick.rawValue)
    let (code, seat): (UInt8, Seat) =
      switch kind {
      case .matchStarted: (1, .home)
      case .goal(let seat): (2, seat)
      case .paused(let seat): (3, seat)
      case .resumed(let seat): (4, seat)
      case .matchEnded(let seat): (5, seat)
      case .sessionEnded: (6, .home)
      }
    writer.append(code)
    writer.append(seat.rawValue)
    writer.write(match)
    writer.append(score.home)
    writer.append(score.away)
  }

  /// Reads what `encode(into:)` wrote; an unknown code or seat is `invalid`.
  public init(decoding reader: inout PacketReader) throws(DecodeError) {
    tick = Tick(try reader.read(UInt64.self))
    let code: UInt8 = try reader.read()
    guard let seat = Seat(rawValue: try reader.read()) else { throw .invalid(what: "seat") }
    switch code {
    case 1: kind = .matchStarted
    case 2: kind = .goal(seat)
    case 3: kind = .paused(seat)
    case 4: kind = .resumed(seat)
    case 5: kind = .matchEnded(winner: seat)
    case 6: kind = .sessionEnded
    default: throw .invalid(what: "event code")
    }
    match = try reader.read()
    score = Score(home: try reader.read(), away: try reader.read())
  }
}
