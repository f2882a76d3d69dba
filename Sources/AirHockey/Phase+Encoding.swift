import CaromCore

extension Phase {
  /// The byte that is encoded for a phase without a seat.
  private static let noSeat = UInt8(255)

  /// The phase's code, seat and remaining ticks, as they are encoded and hashed.
  var fields: (code: UInt8, seat: UInt8, remaining: UInt16) {
    switch self {
    case .faceOff(let remaining): (0, Self.noSeat, remaining)
    case .serve(let seat, let remaining): (1, seat.rawValue, remaining)
    case .playing(let half, let remaining): (2, half?.rawValue ?? Self.noSeat, remaining)
    case .goalPause(let scorer, let remaining): (3, scorer.rawValue, remaining)
    case .foulPause(let seat, let remaining): (4, seat.rawValue, remaining)
    case .matchEnd(let winner): (5, winner.rawValue, 0)
    }
  }

  /// Appends the phase: the code (one byte), the seat (one byte) and the remaining ticks (two
  /// bytes).
  func encode(into writer: inout PacketWriter) {
    let fields = fields
    writer.append(fields.code)
    writer.append(fields.seat)
    writer.write(fields.remaining)
  }

  /// Creates a phase by decoding it. Throws `invalid` if the code or seat is unknown or the
  /// remaining time is impossible.
  init(decoding reader: inout PacketReader) throws(DecodeError) {
    let code = try reader.read(UInt8.self)
    let seatCode = try reader.read(UInt8.self)
    let remaining = try reader.read(UInt16.self)
    let seat = Seat(rawValue: seatCode)
    guard seat != nil || seatCode == Self.noSeat else { throw .invalid(what: "seat") }
    switch (code, seat) {
    case (0, nil): self = .faceOff(remaining: remaining)
    case (1, let seat?): self = .serve(seat, remaining: remaining)
    case (2, let half): self = .playing(half: half, remaining: remaining)
    case (3, let seat?): self = .goalPause(scorer: seat, remaining: remaining)
    case (4, let seat?): self = .foulPause(by: seat, remaining: remaining)
    case (5, let seat?): self = .matchEnd(winner: seat)
    default: throw .invalid(what: "phase")
    }
    guard remaining <= limit else { throw .invalid(what: "remaining ticks") }
    guard remaining > 0 || limit == 0 else { throw .invalid(what: "remaining ticks") }
  }

  /// The maximum remaining time of this phase, in ticks.
  private var limit: UInt16 {
    switch self {
    case .faceOff: Preset.faceOffTicks + Preset.faceOffSpread
    case .serve: Preset.serveTicks
    case .playing: Preset.possessionTicks
    case .goalPause: Preset.goalPauseTicks
    case .foulPause: Preset.foulPauseTicks
    case .matchEnd: 0
    }
  }
}
