/// The session protocol's waiting times, each with the reason for its default.
public struct SessionTiming: Hashable, Sendable {
  /// How long each side of a new link waits for the other's part of the handshake.
  public var handshakeLimit = Duration.seconds(10)
  /// How long a connection lives without a byte from the peer. Pings come every second, so this
  /// is four of them, and a cut cable is told of within 5 s.
  public var silenceLimit = Duration.seconds(4)
  /// Between two pings, once the round trip is known.
  public var pingInterval = Duration.seconds(1)
  /// Between the first pings, which find the round trip and the clock's offset.
  public var firstPingInterval = Duration.milliseconds(100)
  /// How many pings are sent at the shorter interval.
  public var firstPings = 8
  /// How long a goodbye may take to leave before the link is cut.
  public var closeLimit = Duration.seconds(1)

  /// How long a connection that no link carries any more waits to be resumed, after
  /// `silenceLimit`; zero ends it at once.
  public var resumeLimit = Duration.zero

  /// The defaults.
  public init() {}
}
