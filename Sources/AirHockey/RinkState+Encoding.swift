import CaromCore
import CaromSimulation

extension RinkState: PacketCodable {
  /// The length of an encoded state, in bytes.
  public static let encodedLength = 89

  /// Appends the state in little-endian order: the tick (u64); the phase (u8), its seat (u8, 255
  /// for none) and its remaining ticks (u16); the pauses (u8); the match (u16); the home player's
  /// goals (u8) and the away player's goals (u8); the puck's x, y, velocity x, velocity y and spin
  /// (i64 each, in units of 2^-32); x and y of the home player's mallet, then of the away player's
  /// mallet (i64 each, in units of 2^-32).
  public func encode(into writer: inout PacketWriter) {
    writer.write(tick.rawValue)
    phase.encode(into: &writer)
    writer.append(pauses.rawValue)
    writer.write(match)
    writer.append(score.home)
    writer.append(score.away)
    Self.write(puck.position, into: &writer)
    Self.write(puck.velocity, into: &writer)
    writer.write(UInt64(bitPattern: puck.spin))
    for seat in Seat.allCases { Self.write(self[mallet: seat], into: &writer) }
  }

  /// Creates a state by decoding it. Throws `invalid` if a position is outside the table, the phase
  /// is unknown, or the score contradicts the phase.
  public init(decoding reader: inout PacketReader) throws(DecodeError) {
    self.init(tick: Tick(try reader.read(UInt64.self)))
    phase = try Phase(decoding: &reader)
    pauses = Pauses(rawValue: try reader.read(UInt8.self))
    guard pauses.rawValue <= 3 else { throw .invalid(what: "pauses") }
    match = try reader.read(UInt16.self)
    score = Score(home: try reader.read(UInt8.self), away: try reader.read(UInt8.self))
    guard hasPossibleScore else { throw .invalid(what: "score") }
    puck = PuckState(
      position: try Self.point(from: &reader), velocity: try Self.point(from: &reader),
      spin: Int64(bitPattern: try reader.read(UInt64.self)))
    guard Bounds.contains(puck) else { throw .invalid(what: "puck") }
    for seat in Seat.allCases {
      self[mallet: seat] = try Self.point(from: &reader)
      guard Bounds.contains(mallet: self[mallet: seat], of: seat) else {
        throw .invalid(what: "mallet")
      }
    }
  }

  /// Whether the score is possible in the current phase: a player has `goalsToWin` goals if and
  /// only if that player has won and the match is over.
  private var hasPossibleScore: Bool {
    let most = Preset.goalsToWin
    guard case .matchEnd(let winner) = phase else { return score.home < most && score.away < most }
    return score[winner] == most && score[winner.opponent] < most
  }

  private static func write(_ point: LatticePoint, into writer: inout PacketWriter) {
    writer.write(UInt64(bitPattern: point.x))
    writer.write(UInt64(bitPattern: point.y))
  }

  private static func point(from reader: inout PacketReader) throws(DecodeError) -> LatticePoint {
    let x = Int64(bitPattern: try reader.read(UInt64.self))
    let y = Int64(bitPattern: try reader.read(UInt64.self))
    return LatticePoint(x: x, y: y)
  }
}
