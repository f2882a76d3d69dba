import CaromCore

/// A message of the game, in addition to the simulation's own messages: the end of a session, or
/// the names of the players.
public enum MatchNotice: Hashable, Sendable, PacketCodable {
  /// The client has reached its time limit, and requests the end of the session and the final
  /// score.
  case finish
  /// The host ends the session. The values are the number of the match and its final score.
  case ended(match: UInt16, Score)
  /// The host says who plays: the names of the home player and the away player, each of at most 63
  /// bytes of UTF-8. A name is empty while the seat has no player whom the host can reach.
  case playing(home: String, away: String)

  /// The maximum length of a name, in bytes of UTF-8.
  public static let nameLimit = 63

  /// Appends one byte: 0 for `finish`, 1 for `ended`, 2 for `playing`. A 1 is followed by the
  /// number of the match (u16), the home player's goals (u8) and the away player's goals (u8). A 2
  /// is followed by the length of the home player's name (u8), that name, and the away player's
  /// name. A name that is longer than `nameLimit` is omitted.
  public func encode(into writer: inout PacketWriter) {
    switch self {
    case .finish: writer.append(0)
    case .ended(let match, let score):
      writer.append(1)
      writer.write(match)
      writer.append(score.home)
      writer.append(score.away)
    case .playing(let home, let away):
      writer.append(2)
      let name = Self.bytes(of: home)
      writer.append(UInt8(name.count))
      writer.write(name)
      writer.write(Self.bytes(of: away))
    }
  }

  private static func bytes(of name: String) -> [UInt8] {
    name.utf8Length <= nameLimit ? name.utf8Bytes : []
  }

  /// Creates a notice by decoding it. Throws `invalid` if the first byte is unknown, if the score
  /// is impossible, or if a name is too long or not valid UTF-8.
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
      let home = try reader.readBytes(Int(try reader.read(UInt8.self)))
      self = .playing(home: try Self.name(home), away: try Self.name(reader.readRest()))
    default: throw .invalid(what: "word")
    }
  }

  private static func name(_ bytes: [UInt8]) throws(DecodeError) -> String {
    guard bytes.count <= nameLimit, let name = String(utf8Bytes: bytes) else {
      throw .invalid(what: "name")
    }
    return name
  }
}
