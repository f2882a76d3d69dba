/// A datagram socket of a virtual host.
public struct VirtualSocket: Hashable, Sendable {
  /// The host that opened the socket.
  public let host: VirtualHost.ID
  /// The index of the socket in order of creation, counted over the whole network.
  public let number: Int
}

/// One end of a byte stream, such as a TCP connection, between two virtual hosts.
public struct VirtualStream: Hashable, Sendable {
  /// The two ends of a stream.
  public enum Side: Int, Hashable, Sendable {
    /// The end that opened the connection.
    case client = 0
    /// The end that accepted the connection.
    case listener = 1

    var other: Side { self == .client ? .listener : .client }
  }

  /// The host at this end.
  public let host: VirtualHost.ID
  /// The index of the stream in order of creation, counted over the whole network. Both ends
  /// have the same number.
  public let number: Int
  /// The end that this value represents.
  public let side: Side
}
