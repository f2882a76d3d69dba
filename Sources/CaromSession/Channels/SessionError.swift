import CaromProtocol
import CaromTransport

/// The reason why a session could not be hosted or joined.
public enum SessionError: Error, Hashable, Sendable {
  /// The network reported an error. The error's description says what to do.
  case transport(TransportError)
  /// The host refused the connection, or the connection ended before the host granted a seat.
  case refused(DisconnectReason)
}

extension SessionError: CustomStringConvertible {
  /// A one-line message for display: what happened, and what to do next.
  public var description: String {
    switch self {
    case .transport(let error): error.description
    case .refused(.full): "every seat of that host is taken: try again later"
    case .refused(.busy): "that host is busy, or is joining another match: try again"
    case .refused(.versionMismatch(theirs: 0)):
      "that host speaks another version: install the same version on both sides"
    case .refused(.versionMismatch(let theirs)):
      "that host speaks version \(theirs): install the same version on both sides"
    case .refused(.wrongApplication): "that host runs another game, or has the same peer id"
    case .refused(.protocolViolation):
      "the program at that address does not speak Carom: check the address and port"
    case .refused(.handshakeTimeout), .refused(.timedOut):
      "the host did not answer in time; it may be overloaded: "
        + "check the address and port, or try again later"
    case .refused(.securityMismatch):
      "the two sides protect their connections differently: use the same security on both sides"
    case .refused(.wrongCode): "the code is wrong or used up: ask the host for its code"
    case .refused(.tooManyAttempts):
      "too many wrong codes were tried at that host: try again in some minutes"
    case .refused(.identityMismatch):
      "the id in PeerInfo is not the one that its owner has proven: with a connect token, "
        + "use the id that the backend chose"
    case .refused(.tokenRefused(let why)): Self.description(of: why)
    case .refused(.untrusted("")): "the host does not know this player's key"
    case .refused(.untrusted(let why)): "the host is not trusted: \(why)"
    case .refused(.moved(let host)): "the match goes on at \(host): join there"
    case .refused(.closedLocally): "this side has ended the session"
    case .refused(let reason): "the host ended the connection: \(reason)"
    }
  }

  private static func description(of refusal: TokenRefusal) -> String {
    switch refusal {
    case .used: "the connect token has been used: ask for another one"
    case .expired: "the connect token has expired: ask for another one"
    case .otherHost: "the connect token is for another host: connect to one that it names"
    case .madeBeforeStart:
      "the connect token was made before the host started: ask for another one"
    case .notYetValid:
      "the connect token was made in the future by the host's clock: try again, "
        + "and check the clocks"
    case .notAuthentic: "the connect token was not made with the host's key: ask for another one"
    }
  }
}
