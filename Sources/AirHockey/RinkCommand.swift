import CaromCore

/// What a player may ask of the match beside moving the mallet. The authority puts all commands
/// in one order; each takes effect between two ticks, before the step that follows.
public enum RinkCommand: Hashable, Sendable {
  /// The seat holds the match.
  case pause(Seat)
  /// The seat no longer holds it; the other seat's hold stays.
  case resume(Seat)
  /// The seat wants the next match; it does nothing unless a match is over.
  case startMatch(Seat)

  /// Whose command it is.
  public var owner: Seat {
    switch self {
    case .pause(let seat), .resume(let seat), .startMatch(let seat): seat
    }
  }

  /// The same command by the other seat.
  public var mirrored: RinkCommand {
    switch self {
    case .pause(let seat): .pause(seat.opponent)
    case .resume(let seat): .resume(seat.opponent)
    case .startMatch(let seat): .startMatch(seat.opponent)
    }
  }

  /// Appends two bytes: 0 pause, 1 resume, 2 start; then the seat.
  public func encode(into writer: inout PacketWriter) {
    switch self {
    case .pause: writer.append(0)
    case .resume: writer.append(1)
    case .startMatch: writer.append(2)
    }
    writer.append(owner.rawValue)
  }

  /// Reads the two bytes; an unknown command or seat is `invalid`.
  public init(decoding reader: inout PacketReader) throws(DecodeError) {
    let code = try reader.read(UInt8.self)
    guard let seat = Seat(rawValue: try reader.read(UInt8.self)) else {
      throw .invalid(what: "seat")
    }
    switch code {
    case 0: self = .pause(seat)
    case 1: self = .resume(seat)
    case 2: self = .startMatch(seat)
    default: throw .invalid(what: "rink command")
    }
  }
}
