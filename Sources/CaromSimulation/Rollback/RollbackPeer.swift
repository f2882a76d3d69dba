import CaromCore

/// The state that a session keeps for each remote peer.
struct RollbackPeer: Sendable {
  /// The first tick whose inputs this peer and the local peer exchange: that of the match's start,
  /// or of the peer's return.
  let base: Tick
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

  /// The return to which the peer has not agreed yet. Until then, it gets no local input of that
  /// tick or a later one.
  var proposal: PlayerReturn?
  /// The message about a return that must now be sent to the peer.
  var returnDue: PlayerReturn?

  init(from start: Tick) {
    base = start
    acknowledged = start
    sentHashTick = start
  }
}
