import CaromProtocol

/// Why a connection ended, as a number for the page, which has a sentence for each.
package enum EndCode: UInt8, Hashable, Sendable {
  /// This side left.
  case closed = 0
  /// The host left, or the match goes on at another host, which the page does not follow.
  case left = 1
  /// The session ended as both had agreed.
  case finished = 2
  /// The same player has joined from elsewhere, or another player has the seat.
  case replaced = 3
  /// All seats are taken.
  case full = 4
  /// The host cannot answer now.
  case busy = 5
  /// The host declined; the engine has its explanation (`endText`).
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
  /// Too many wrong codes were tried at the host.
  case tooManyAttempts = 14

  /// Creates the code of a reason.
  package init(_ reason: DisconnectReason) {
    self =
      switch reason {
      case .closedLocally: .closed
      case .left, .moved: .left
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
      case .securityMismatch, .identityMismatch, .untrusted, .wrongCode, .tokenRefused:
        .notAllowed
      case .tooManyAttempts: .tooManyAttempts
      }
  }
}
