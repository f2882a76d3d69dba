import CaromCrypto
import CaromPlacement
import CaromProtocol

// The answers of a door, which are the goodbyes of its session.
extension HostFailover.DoorAnswer {
  /// The goodbye that is the answer. The result of a match is not sent.
  var goodbye: Goodbye {
    switch self {
    case .stay: Goodbye(.busy)
    case .moved(let bytes):
      if let token = try? ConnectToken(decoding: bytes.span) {
        Goodbye(movedTo: NextHost(at: token.hosts, token: token))
      } else {
        Goodbye(.busy)
      }
    case .over: Goodbye(.finished)
    case .refused(.unknownMatch): Goodbye(movedTo: NextHost())
    case .refused: Goodbye(.full)
    }
  }

  /// Reads the answer of a door. Returns nil if the door cannot answer now, is no door, or does not
  /// accept the token: another one may.
  init?(_ reason: DisconnectReason) {
    switch reason {
    case .moved(let next):
      guard next.hasToken else {
        self = .refused(.unknownMatch)
        return
      }
      // It must be a token with which the player can join.
      guard let token = next.token, !token.isForDoors, !token.hosts.isEmpty else { return nil }
      self = .moved(token: token.bytes)
    case .finished: self = .over(result: nil)
    case .full: self = .refused(.noRoom)
    default: return nil
    }
  }
}
