/// Counters of one event loop of a session, since the session began.
public struct LoopStatistics: Hashable, Sendable {
  /// The number of connected peers that live on the loop now.
  public var peers = 0
  /// The number of bytes that the loop has handed to its sockets.
  public var bytesSent: UInt64 = 0
  /// The number of bytes that the loop has read from its sockets, including those it forwarded to
  /// other loops.
  public var bytesReceived: UInt64 = 0
  /// Datagrams that arrived on this loop and were forwarded to the loop of their peer.
  public var datagramsForwarded: UInt64 = 0
  /// Streams that arrived on this loop and were handed over to the loop of their peer.
  public var streamsForwarded: UInt64 = 0
}
