import CaromProtocol
import CaromTransport

/// Why a session could not be hosted or joined; each case is another thing to do.
public enum SessionError: Error, Hashable, Sendable {
  /// The network said no; the transport's error says what to do.
  case transport(TransportError)
  /// The host answered, and declined; or the connection ended before it was granted.
  case refused(DisconnectReason)
}

extension SessionError: CustomStringConvertible {
  /// One line for people: what happened, and what to do.
  public var description: String {
    switch self {
    case .transport(let error): error.description
    case .refused(.full): "every seat at that table is taken"
    case .refused(.busy): "that player is joining another table: try again"
    case .refused(.versionMismatch(let theirs)):
      "that host speaks version \(theirs): the same version is needed on both sides"
    case .refused(.wrongApplication): "that host plays another game"
    case .refused(.protocolViolation): "whatever listens there does not speak Carom"
    case .refused(.handshakeTimeout): "that host accepted the connection and never answered"
    case .refused(let reason): "the host ended the connection: \(reason)"
    }
  }
}
