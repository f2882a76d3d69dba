import CaromCore
import CaromSimulation

extension RinkState: PacketCodable {
  /// The bytes of a state.
  public static let encodedLength = 89

  /// Appends the state, little-endian: tick u64; phase u8, its seat u8 (255: none), its remaining
  /// ticks u16; pauses u8; match u16; goals of home u8 and away u8; the puck's x, y, velocity x,
  /// velocity y and spin, i64 each in steps of 2^-32; home's mallet x, y; away's mallet x, y, i64
  /// each.
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

  /// Reads a state. Every field is checked: nothing outside the table, no unknown phase, no score
  /// that the phase contradicts.
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
    guard Bounds.holds(puck) else { throw .invalid(what: "puck") }
    for seat in Seat.allCases {
      self[mallet: seat] = try Self.point(from: &reader)
      guard Bounds.holds(mallet: self[mallet: seat], of: seat) else {
        throw .invalid(what: "mallet")
      }
    }
  }

  /// The winner, and nobody else, has the goals that win.
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
