import CaromCore

/// What is known of a peer at the other end of a session.
struct RollbackPeer: Sendable {
  /// The tick whose input the peer needs next from here.
  var acknowledged: Tick
  var sync = ClockSync()
  var detector = DesyncDetector()
  var isInputDue = false
  /// The newest tick of the peer that was noted for the clocks.
  var newestTick: Tick?
  /// The newest tick whose hash was told.
  var hashTold: Tick
  var packets = 0
  /// When the peer was heard last.
  var heard: Instant?

  init(from start: Tick) {
    acknowledged = start
    hashTold = start
  }
}
