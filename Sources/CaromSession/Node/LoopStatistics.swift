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
  /// The number of times that the loop stopped accepting streams for a moment, because it had begun
  /// as many handshakes on streams as it may. The streams wait in the system's backlog.
  public var acceptingPauses: UInt64 = 0
  /// The number of times that there were more than 512 strangers over TCP. Each time, the oldest
  /// was dropped.
  public var streamLimitExceeded: UInt64 = 0
  /// The number of times that there were more than 1,024 strangers over UDP. Each time, the oldest
  /// was dropped.
  public var handshakeLimitExceeded: UInt64 = 0
  /// The number of times that one source, an IPv4 address or an IPv6 /64, had more than 32
  /// strangers over TCP or over UDP. Each time, the oldest of them was dropped, or the newest
  /// refused.
  public var sourceLimitExceeded: UInt64 = 0
  /// The number of times that a stranger was refused because the loop had as many connections as it
  /// can have.
  public var connectionLimitExceeded: UInt64 = 0
  /// The number of links that began with a connect token. Over UDP, none of the limits for
  /// strangers holds for them.
  public var linksWithToken: UInt64 = 0
}
