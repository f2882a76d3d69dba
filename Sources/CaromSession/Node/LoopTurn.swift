import CaromCore
import CaromTransport

/// The state of a node's draining: when it polls its protocol machine next.
struct LoopTurn {
  /// Fires at the machine's next timeout.
  var timer: LoopTimer?
  /// Fires at the end of the loop's turn if something was queued.
  var end: EndOfTurnCallback?
  var isDraining = false
  /// Whether something was queued during the current drain.
  var needsAnotherRound = false
  /// The time of the last drain.
  var drainedAt = Instant.zero
  /// Whether the sockets have been read since the timer fired late.
  var hasReadAfterStandstill = false
}
