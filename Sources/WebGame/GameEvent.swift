import CaromCore
import CaromSimulation

/// Something that happened in the game, for the page.
package struct GameEvent: Hashable, Sendable {
  /// How certain an event is; see `RollbackEvent`.
  package enum Certainty: UInt8, Hashable, Sendable {
    /// It happened according to the predicted inputs.
    case predicted = 1
    /// It happened.
    case confirmed = 2
    /// It was predicted, and did not happen.
    case retracted = 3
  }

  /// The maximum length of an encoded event, in bytes. A longer one reaches the page without its
  /// encoding.
  package static let lengthLimit = 4096

  /// How certain the event is.
  package let certainty: Certainty
  /// The tick in whose step the event happened.
  package let tick: Tick
  /// The encoded event; empty if events of the game have no encoding.
  package let bytes: [UInt8]

  /// Creates an event of which the page learns `bytes`.
  init(_ certainty: Certainty, _ tick: Tick, _ bytes: [UInt8]) {
    self.certainty = certainty
    self.tick = tick
    self.bytes = bytes.count > Self.lengthLimit ? [] : bytes
  }

  /// The length of the event in the shared buffer.
  package var encodedLength: Int { 12 + bytes.count }

  /// Appends the event in little-endian order: the certainty (u8), a 0, the length of the encoding
  /// (u16), the tick (f64), and the encoding.
  package func encode(into writer: inout PacketWriter) {
    writer.append(certainty.rawValue)
    writer.append(0)
    writer.write(UInt16(bytes.count))
    writer.write(Double(tick.rawValue))
    writer.write(bytes)
  }
}

/// Returns how the events of a game are encoded for the page, or nil if they are not
/// `PacketCodable`. Which of the two functions is called is decided where the game is known.
package func eventEncoding<Game: Simulation>(of game: Game.Type) -> ((Game.Event) -> [UInt8])? {
  nil
}

/// Returns how the events of a game are encoded for the page.
package func eventEncoding<Game: Simulation>(of game: Game.Type) -> ((Game.Event) -> [UInt8])?
where Game.Event: PacketCodable {
  { $0.encoded }
}
