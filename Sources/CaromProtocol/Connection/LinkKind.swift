/// A kind of link that carries a connection's messages.
public enum LinkKind: Hashable, Sendable, CaseIterable {
  /// UDP, with Carom's own loss detection and congestion control.
  case datagram
  /// TCP, used where UDP is blocked or was not requested.
  case stream
}

extension LinkKind: CustomStringConvertible {
  /// The name of the transport: "udp" or "tcp".
  public var description: String { self == .datagram ? "udp" : "tcp" }
}
