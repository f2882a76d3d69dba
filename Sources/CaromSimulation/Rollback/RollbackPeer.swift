import CaromCore

/// The state that a session keeps for each remote peer.
struct RollbackPeer: Sendable {
  /// The tick whose local input the peer needs next.
  var acknowledged: Tick
  var sync = ClockSync()
  var detector = DesyncDetector()
  var isInputDue = false
  /// The newest tick of the peer that was recorded for clock synchronization, or nil before the
  /// first.
  var newestTick: Tick?
  /// The newest tick whose hash was sent to the peer.
  var sentHashTick: Tick
  var packets = 0
  /// The time at which the last message from the peer arrived, or nil before the first.
  var lastHeard: Instant?

  init(from start: Tick) {
    acknowledged = start
    sentHashTick = start
  }
}
