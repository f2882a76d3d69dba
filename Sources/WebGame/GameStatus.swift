import CaromCore
import CaromSimulation
import WebEngine

/// How a game stands, without its state.
package struct GameStatus: Hashable, Sendable {
  /// The number of ticks that have been played, predicted ones included.
  package var tick = Tick.zero
  /// The position of the present between the last tick and the next, from 0 to 1.
  package var fraction = 0.0
  /// The round-trip time to the host, or nil if it is unknown.
  package var roundTrip: Duration?
  /// The connection.
  package var link = LinkState.none
  /// The player at this page; nil if the page has all players, or none, or before the host has
  /// given it one.
  package var player: Int?
  /// The number of ticks that are predicted.
  package var predictedTicks = 0
  /// The number of ticks between an input and the tick at which it applies.
  package var inputDelay = 0
  /// The number of times that the game differed from the host's.
  package var desyncs = 0
  /// The number of ticks per second.
  package var rate = 0

  /// The length of the encoded status in bytes.
  package static let encodedLength = 34

  /// Appends the status in little-endian order: the tick, the fraction and the round-trip time (f64
  /// each; the last in milliseconds, negative if unknown); the link (u8); the player (u8, 255 for
  /// none); the predicted ticks (u8); a 0; the input delay in ticks, the desyncs and the ticks per
  /// second (u16 each).
  package func encode(into writer: inout PacketWriter) {
    writer.write(Double(tick.rawValue))
    writer.write(fraction)
    writer.write(roundTrip?.inMilliseconds ?? -1)
    writer.append(link.rawValue)
    writer.append(player.map { UInt8(clamping: $0) } ?? 255)
    writer.append(UInt8(clamping: predictedTicks))
    writer.append(0)
    writer.write(UInt16(clamping: inputDelay))
    writer.write(UInt16(clamping: desyncs))
    writer.write(UInt16(clamping: rate))
  }
}
