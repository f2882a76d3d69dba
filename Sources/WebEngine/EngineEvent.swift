import AirHockey
import CaromCore
import CaromProtocol

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
    case .joined: (32, 0, 0)
    case .interrupted: (33, 0, 0)
    case .resumed: (34, 0, 0)
    case .reconnect: (35, 0, 0)
    case .finalScore(let score): (36, score.home, score.away)
    case .left(let code): (37, code.rawValue, 0)
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

/// The events that wait for the page.
struct EventList {
  /// The maximum number of events. Beyond it, the oldest are dropped: a page that draws nothing
  /// plays nothing either.
  static let limit = 256

  private var events = Deque<EngineEvent>()

  mutating func append(_ event: EngineEvent) {
    if events.count == Self.limit { _ = events.popFirst() }
    events.append(event)
  }

  /// Removes and returns the oldest event, or nil if there is none.
  mutating func popFirst() -> EngineEvent? { events.popFirst() }
}

/// Why a connection ended, as a number for the page, which has a sentence for each.
package enum EndCode: UInt8, Hashable, Sendable {
  /// This side left.
  case closed = 0
  /// The host left.
  case left = 1
  /// The session ended as both had agreed.
  case finished = 2
  /// The same player has joined from elsewhere, or another player has the seat.
  case replaced = 3
  /// All seats are taken.
  case full = 4
  /// The host cannot answer now.
  case busy = 5
  /// The host declined; `AirHockeyEngine.endText` is its explanation.
  case declined = 6
  /// The host speaks another version of the session protocol or of the game.
  case otherVersion = 7
  /// The host plays another game.
  case otherGame = 8
  /// One side violated the protocol.
  case violation = 9
  /// The host did not answer in time, or no link has worked again in time.
  case timedOut = 10
  /// The link could not be opened or broke before the host granted a seat.
  case unreachable = 11
  /// One side left its messages unread for too long.
  case tooSlow = 12
  /// The host encrypts its connections, or knows who may join.
  case notAllowed = 13

  /// Creates the code of a reason.
  package init(_ reason: DisconnectReason) {
    self =
      switch reason {
      case .closedLocally: .closed
      case .left: .left
      case .finished: .finished
      case .replaced: .replaced
      case .full: .full
      case .busy: .busy
      case .declined, .kicked: .declined
      case .versionMismatch: .otherVersion
      case .wrongApplication: .otherGame
      case .protocolViolation: .violation
      case .handshakeTimeout, .timedOut: .timedOut
      case .connectionReset, .connectionLost: .unreachable
      case .tooSlow: .tooSlow
      case .securityMismatch, .identityMismatch, .untrusted, .wrongCode, .tooManyAttempts,
        .tokenRefused:
        .notAllowed
      }
  }
}
