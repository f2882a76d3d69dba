/// The counters of one event loop of a session since the session began.
public struct LoopStatistics: Hashable, Sendable {
  /// The number of connected peers whose connections are on the loop now.
  public var peers = 0
  /// The number of bytes that the loop has passed to its sockets.
  public var bytesSent: UInt64 = 0
  /// The number of bytes that the loop has read from its sockets, including datagrams that it
  /// forwarded to other loops.
  public var bytesReceived: UInt64 = 0
  /// The number of datagrams that arrived on this loop and were forwarded to the loop of their
  /// peer.
  public var datagramsForwarded: UInt64 = 0
  /// The number of streams that arrived on this loop and were handed over to the loop of their
  /// peer.
  public var streamsForwarded: UInt64 = 0
}
