import CaromCore
import CaromSimulation

extension RinkState {
  /// The bytes of a state with both mallets; each mallet that is left out saves 16.
  public static let encodedLength = 90

  /// Appends the state, little-endian: tick u64; phase u8, its seat u8 (255: none), its remaining
  /// ticks u16; pauses u8; mallets that follow u8 (bit 0 home, bit 1 away); match u16; goals of
  /// home u8 and away u8; the puck's x, y, velocity x, velocity y and spin, i64 each in steps of
  /// 2^-32; home's mallet x, y; away's mallet x, y, i64 each.
  ///
  /// `omitting` leaves out the mallet that the receiver owns.
  public func encode(into writer: inout PacketWriter, omitting owner: Seat? = nil) {
    writer.write(tick.rawValue)
    phase.encode(into: &writer)
    writer.append(pauses.rawValue)
    writer.append(owner.map { 3 & ~Pauses.of($0).rawValue } ?? 3)
    writer.write(match)
    writer.append(score.home)
    writer.append(score.away)
    Self.write(puck.position, into: &writer)
    Self.write(puck.velocity, into: &writer)
    writer.write(UInt64(bitPattern: puck.spin))
    for seat in Seat.allCases where seat != owner { Self.write(self[mallet: seat], into: &writer) }
  }

  /// Reads a state. Every field is checked: nothing outside the table, no unknown phase, no score
  /// that the phase contradicts. A mallet that was left out gets `ownMallet`, or its place of rest.
  /// With `isWhole` both have to be there.
  public init(
    decoding reader: inout PacketReader, ownMallet: LatticePoint? = nil, isWhole: Bool = false
  ) throws(DecodeError) {
    self.init(tick: Tick(try reader.read(UInt64.self)))
    phase = try Phase(decoding: &reader)
    pauses = Pauses(rawValue: try reader.read(UInt8.self))
    guard pauses.rawValue <= 3 else { throw .invalid(what: "pauses") }
    let present = try reader.read(UInt8.self)
    guard (isWhole ? 3...3 : 1...3).contains(present) else {
      throw .invalid(what: "mallets present")
    }
    match = try reader.read(UInt16.self)
    score = Score(home: try reader.read(UInt8.self), away: try reader.read(UInt8.self))
    guard hasPossibleScore else { throw .invalid(what: "score") }
    puck = PuckState(
      position: try Self.point(from: &reader), velocity: try Self.point(from: &reader),
      spin: Int64(bitPattern: try reader.read(UInt64.self)))
    guard Bounds.holds(puck) else { throw .invalid(what: "puck") }
    for seat in Seat.allCases {
      guard present & Pauses.of(seat).rawValue != 0 else {
        if let ownMallet { self[mallet: seat] = Bounds.clamped(mallet: ownMallet, of: seat) }
        continue
      }
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
