/// Detects competing traffic: if the queue persists although this flow backs off, other traffic
/// must be filling the queue. Times are in nanoseconds, bandwidths in bytes per second.
struct CompetitionDetector: Sendable {
  /// The number of consecutive rounds with a full queue after which competing traffic may be
  /// suspected.
  private static let suspiciousRounds = 8
  /// The minimum fraction of its bandwidth that a flow keeps after backing off if no other traffic
  /// competes. A flow that keeps less has lost the rest to other flows.
  private static let keptShare = 0.8
  /// The time for which competing traffic is remembered after it was last detected: 30 s.
  private static let memory: Int64 = 30_000_000_000
  /// The additional time for which the shortest round-trip time is trusted if competing traffic was
  /// detected recently: 60 s.
  static let roundTripPatience: Int64 = 60_000_000_000

  /// The time at which the controller was last in competitive mode, in nanoseconds.
  var lastSeen = Int64.min / 2
  /// The number of consecutive bandwidth probes that overflowed the queue.
  var overflows = 0
  /// The number of consecutive rounds in which the queue did not empty.
  private var fullRounds = 0
  /// The bandwidth at the end of the first round that `fullRounds` counts, in bytes per second.
  private(set) var bandwidthBeforeQueue = 0.0
  /// The queueing delay at the end of the first round that `fullRounds` counts, in nanoseconds.
  private var firstQueue: Int64 = 0
  /// The bandwidth after the flow first backed off, in bytes per second.
  private var bandwidthAfterBackoff = 0.0

  /// Returns whether the controller was in competitive mode within the last 30 s.
  func isRecent(at now: Int64) -> Bool { now - lastSeen < Self.memory }

  /// Returns the additional time, in nanoseconds, for which the shortest round-trip time is
  /// trusted; 0 if no competing traffic was detected recently.
  func roundTripPatience(at now: Int64) -> Int64 {
    isRecent(at: now) ? Self.roundTripPatience : 0
  }

  mutating func recordEmptyQueue() { fullRounds = 0 }

  mutating func recordFullQueue(_ queue: Int64, bandwidth: Double) {
    if fullRounds == 0 { (bandwidthBeforeQueue, firstQueue) = (bandwidth, queue) }
    fullRounds += 1
  }

  /// Returns whether competing traffic is suspected: since this flow backed off, it has lost more
  /// bandwidth, but the queue has not shrunk. If all flows had backed off, each would have kept its
  /// share and the queue would have shrunk.
  func isSuspected(queue: Int64, bandwidth: Double) -> Bool {
    fullRounds >= Self.suspiciousRounds && bandwidth < Self.keptShare * bandwidthAfterBackoff
      && queue >= firstQueue / 2
  }

  mutating func recordBackoff(to bandwidth: Double) {
    if fullRounds == 1 { bandwidthAfterBackoff = bandwidth }
  }

  /// Restarts the detection when the controller enters competitive mode.
  mutating func reset() { (fullRounds, overflows) = (0, 0) }
}
