import AirHockey
import WebEngine

/// Something that the page should show or play. Each is four bytes in the shared buffer: a code,
/// two values and a 0.
package enum EngineEvent: Hashable, Sendable {
  /// Something happened in the game. A touch may be predicted; everything else is certain.
  case game(RinkEvent)
  /// The host has granted a seat.
  case joined
  /// No link carries the connection; it waits to be resumed.
  case interrupted
  /// A link carries the connection again.
  case resumed
  /// The page should open a new link, unless it is already doing so.
  case reconnect
  /// The final score of a session that the host has ended.
  case finalScore(Score)
  /// The connection has ended.
  case left(EndCode)
  /// The host has told who plays: `AirHockeyEngine.playerNames`.
  case playersChanged

  /// The code and the two values.
  package var bytes: (code: UInt8, first: UInt8, second: UInt8) {
    switch self {
    case .game(let event): Self.bytes(of: event)
    case .joined: LinkEvent.joined.bytes
    case .interrupted: LinkEvent.interrupted.bytes
    case .resumed: LinkEvent.resumed.bytes
    case .reconnect: LinkEvent.reconnect.bytes
    case .finalScore(let score): (36, score.home, score.away)
    case .left(let code): LinkEvent.left(code).bytes
    case .playersChanged: (38, 0, 0)
    }
  }

  private static func bytes(
    of event: RinkEvent
  ) -> (code: UInt8, first: UInt8, second: UInt8) {
    switch event {
    case .touch(let touches, let impact): (1, touches, impact)
    case .goal(let seat): (2, seat.rawValue, 0)
    case .foul(let seat): (3, seat.rawValue, 0)
    case .serve(let seat): (4, seat.rawValue, 0)
    case .faceOff: (5, 0, 0)
    case .won(let seat): (6, seat.rawValue, 0)
    case .paused(let seat): (7, seat.rawValue, 0)
    case .resumed(let seat): (8, seat.rawValue, 0)
    case .matchStarted: (9, 0, 0)
    }
  }
}
