import CaromCore

/// A message of the game, in addition to the simulation's own messages: the end of a session, or
/// the name of a player for spectators.
public enum MatchNotice: Hashable, Sendable, PacketCodable {
  /// The client has reached its time limit, and requests the end of the session and the final
  /// score.
  case finish
  /// The host ends the session. The values are the number of the match and its final score.
  case ended(match: UInt16, Score)
  /// The host tells a spectator the name of its client, with at most 63 bytes of UTF-8; the name is
  /// empty if the host has no client.
  case playing(against: String)

  /// The maximum length of a name, in bytes of UTF-8.
  public static let nameLimit = 63

  /// Appends one byte: 0 for `finish`, 1 for `ended`, 2 for `playing`. A 1 is followed by the
  /// number of the match (u16), the home player's goals (u8) and the away player's goals (u8). A 2
  /// is followed by the name, which is omitted if it is longer than `nameLimit`.
  public func encode(into writer: inout PacketWriter) {
    switch self {
    case .finish: writer.append(0)
    case .ended(let match, let score):
      writer.append(1)
      writer.write(match)
      writer.append(score.home)
      writer.append(score.away)
    case .playing(let name):
      writer.append(2)
      if name.utf8.count <= Self.nameLimit { writer.write(Array(name.utf8)) }
    }
  }

  /// Creates a notice by decoding it. Throws `invalid` if the first byte is unknown, if the score
  /// is impossible, or if the name is too long or not valid UTF-8.
  public init(decoding reader: inout PacketReader) throws(DecodeError) {
    switch try reader.read(UInt8.self) {
    case 0: self = .finish
    case 1:
      let match: UInt16 = try reader.read()
      let score = Score(home: try reader.read(), away: try reader.read())
      let most = Preset.goalsToWin
      guard max(score.home, score.away) <= most, min(score.home, score.away) < most else {
        throw .invalid(what: "score")
      }
      self = .ended(match: match, score)
    case 2:
      let bytes = reader.readRest()
      guard bytes.count <= Self.nameLimit, let name = String(validating: bytes, as: UTF8.self)
      else { throw .invalid(what: "name") }
      self = .playing(against: name)
    default: throw .invalid(what: "word")
    }
  }
}
