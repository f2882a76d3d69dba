/// The timeouts and intervals of the session protocol.
public struct SessionTiming: Hashable, Sendable {
  /// How long each side of a new link waits for the other side's part of the handshake.
  public var handshakeLimit = Duration.seconds(10)
  /// How long a connection lasts without receiving anything from the peer. Pings are sent every
  /// second, so the default allows four to be lost, and a cut cable is reported within 5 s.
  public var silenceLimit = Duration.seconds(4)
  /// The interval between pings after the first `firstPings`.
  public var pingInterval = Duration.seconds(1)
  /// The interval between the first pings, which measure the round-trip time and the clock offset.
  public var firstPingInterval = Duration.milliseconds(100)
  /// The number of pings that are sent at the shorter interval.
  public var firstPings = 8
  /// How long closing may take, from the request to close until all earlier messages are
  /// acknowledged and the goodbye is sent. After this time, the link is cut.
  public var closeLimit = Duration.seconds(1)

  /// How long a connection without a working link waits to be resumed, after `silenceLimit` has
  /// passed. Zero ends such a connection at once.
  public var resumeLimit = Duration.zero

  /// The default timing.
  public init() {}
}
