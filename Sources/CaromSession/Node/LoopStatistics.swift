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
  /// The number of strangers now: peers that have connected but have not requested a seat yet.
  public var strangers = 0
  /// The number of strangers that were dropped because newer ones came and there were too many.
  public var strangersDropped: UInt64 = 0
  /// The number of strangers that were refused because there were too many. Over UDP, each repeated
  /// attempt counts.
  public var strangersRefused: UInt64 = 0
  /// The number of strangers' handshakes that had to wait, because handshakes would otherwise have
  /// taken too much of the processor. Over UDP, each repeated attempt counts.
  public var handshakesPostponed: UInt64 = 0
}
