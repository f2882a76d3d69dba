import CaromCore

/// A message that the host and the client exchange once at the end of a session, in addition to the
/// simulation's own messages.
public enum MatchNotice: Hashable, Sendable, PacketCodable {
  /// The client has reached its time limit, and requests the end of the session and the final
  /// score.
  case finish
  /// The host ends the session. The values are the number of the match and its final score.
  case ended(match: UInt16, Score)

  /// Appends one byte: 0 for `finish`, 1 for `ended`. A 1 is followed by the number of the match
  /// (u16), the home player's goals (u8) and the away player's goals (u8).
  public func encode(into writer: inout PacketWriter) {
    switch self {
    case .finish: writer.append(0)
    case .ended(let match, let score):
      writer.append(1)
      writer.write(match)
      writer.append(score.home)
      writer.append(score.away)
    }
  }

  /// Creates a notice by decoding it. Throws `invalid` if the first byte is unknown or the score is
  /// impossible.
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
    default: throw .invalid(what: "word")
    }
  }
}
