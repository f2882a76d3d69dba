import AirHockey
import CaromCore
import CaromPhysics
import WebEngine

/// What the page draws in a frame.
package struct EngineState: Hashable, Sendable {
  /// The match, with the positions to draw; nil before the first state of a host.
  package var rink: RinkState?
  /// The connection.
  package var link = LinkState.none
  /// The seat of the person at this page; nil if several or none play here, or before the host has
  /// given a seat.
  package var seat: Seat?
  /// The round-trip time to the host, or nil if it is unknown.
  package var roundTrip: Duration?
  /// The number of ticks that are predicted.
  package var predictedTicks = 0
  /// The number of ticks between an input and the tick at which it applies.
  package var inputDelay = 0
  /// The number of times that the match differed from the host's.
  package var desyncs = 0

  /// The length of the encoded state in bytes.
  package static let encodedLength = 80

  /// Appends the state in little-endian order: x and y of the puck, of home's mallet and of away's
  /// (f64 each, in meters from the center of the table); the tick (f64); the round-trip time (f64,
  /// in milliseconds; negative if unknown); the phase (u8, 255 before the first state), its seat
  /// (u8, 255 for none) and its remaining ticks (u16); home's and away's goals (u8 each); the
  /// pauses (u8); the seat of the page's player (u8, 255 for none); the number of the match (u16);
  /// the link (u8); the predicted ticks (u8); the input delay in ticks (u16); the desyncs (u16).
  package func encode(into writer: inout PacketWriter) {
    let shown = rink ?? RinkState()
    for point in [shown.puck.position, shown.homeMallet, shown.awayMallet] {
      Self.write(point.vector.x, into: &writer)
      Self.write(point.vector.y, into: &writer)
    }
    Self.write(Double(shown.tick.rawValue), into: &writer)
    Self.write(roundTrip?.inMilliseconds ?? -1, into: &writer)
    let (code, phaseSeat, remaining) = Self.fields(of: shown.phase)
    writer.append(rink == nil ? 255 : code)
    writer.append(phaseSeat?.rawValue ?? 255)
    writer.write(remaining)
    writer.append(shown.score.home)
    writer.append(shown.score.away)
    writer.append(shown.pauses.rawValue)
    writer.append(seat?.rawValue ?? 255)
    writer.write(shown.match)
    writer.append(link.rawValue)
    writer.append(UInt8(clamping: predictedTicks))
    writer.write(UInt16(clamping: inputDelay))
    writer.write(UInt16(clamping: desyncs))
  }

  private static func write(_ value: Double, into writer: inout PacketWriter) {
    writer.write(value.bitPattern)
  }

  private static func fields(of phase: Phase) -> (code: UInt8, seat: Seat?, remaining: UInt16) {
    switch phase {
    case .faceOff(let remaining): (0, nil, remaining)
    case .serve(let seat, let remaining): (1, seat, remaining)
    case .playing(let half, let remaining): (2, half, remaining)
    case .goalPause(let scorer, let remaining): (3, scorer, remaining)
    case .foulPause(let seat, let remaining): (4, seat, remaining)
    case .matchEnd(let winner): (5, winner, 0)
    }
  }
}
