/// What carries a connection.
public enum LinkKind: Hashable, Sendable, CaseIterable {
  /// UDP: packets as they come, with a congestion control of our own.
  case datagram
  /// TCP: one stream in order, where UDP is blocked or not wanted.
  case stream
}

extension LinkKind: CustomStringConvertible {
  /// "udp" or "tcp".
  public var description: String { self == .datagram ? "udp" : "tcp" }
}
