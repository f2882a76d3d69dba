import CaromCore

/// What host and guest tell each other beside the game in step, each once.
public enum TableWord: Hashable, Sendable, PacketCodable {
  /// The guest's time is up: it asks for the last word.
  case finish
  /// The host ends the session: which match was played, and its final score.
  case ended(match: UInt16, Score)

  /// Appends one byte, 0 or 1; after 1 the match u16 and the goals of home u8 and away u8.
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

  /// Reads what `encode(into:)` wrote; an unknown word is `invalid`.
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
