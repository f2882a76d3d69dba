/// Decides when to declare a packet lost (RFC 8985): when a packet sent later was acknowledged and
/// the reordering window has passed. Times are in nanoseconds.
struct LossDetector: Sendable {
  /// The distance in packet numbers from an acknowledged packet at which an older packet is
  /// declared lost, as long as the path has never reordered packets (RFC 8985 §6.2).
  static let reorderingThreshold: UInt64 = 3
  /// The number of consecutive genuine losses, as opposed to spurious ones, after which the
  /// reordering window returns to its initial length.
  private static let lossesUntilReset: Int32 = 64
  /// The number of unanswered probes after which the interval between probes doubles and all
  /// packets are declared lost.
  static let probesBeforeBackoff = 3
  /// The maximum number of acknowledgements after the first awaited one that must be overdue as
  /// well before a probe is sent. It is reached only while packets are sent steadily.
  static let additionalAnswers = 2
  /// The maximum interval between probes: 1 s, or one probe timeout if that is longer.
  private static let maximumProbeInterval: Int64 = 1_000_000_000

  /// The largest packet number that was acknowledged; nil before the first acknowledgement.
  private(set) var largestAcknowledged: UInt64?
  private var hasSeenReordering = false
  private var lossesSinceSpurious: Int32 = 0
  /// The latest send time of an acknowledged packet, in nanoseconds.
  private var newestSent: Int64 = 0
  /// The round-trip time of the acknowledged packet with the latest send time, in nanoseconds.
  private var newestRoundTrip: Int64 = 0
  /// The length of the reordering window in quarters of the shortest round-trip time.
  private var reorderWindowMultiplier: Int64 = 1
  /// The number of probes sent since the last acknowledgement.
  private(set) var probes = 0
  private var lastProbe = Int64.min
  private var lastAnswer = Int64.min / 2

  /// Records that the packet `number`, which was sent at `sent`, was acknowledged at `now`.
  mutating func recordAcknowledged(_ number: UInt64, sent: Int64, at now: Int64) {
    if let largestAcknowledged, number < largestAcknowledged {
      hasSeenReordering = true
    } else {
      largestAcknowledged = number
    }
    guard sent >= newestSent else { return }
    newestSent = sent
    newestRoundTrip = now - sent
  }

  /// Records that an acknowledgement of ack-eliciting packets arrived, which ends a run of probes.
  mutating func recordAnswer(at now: Int64) {
    probes = 0
    lastAnswer = now
  }

  mutating func recordProbe(at now: Int64) {
    probes += 1
    lastProbe = now
  }

  mutating func recordLoss() {
    lossesSinceSpurious += 1
    guard lossesSinceSpurious >= Self.lossesUntilReset else { return }
    reorderWindowMultiplier = 1
    lossesSinceSpurious = 0
  }

  /// Widens the reordering window, because a packet that was declared lost was acknowledged after
  /// all.
  mutating func noteSpuriousLoss(_ roundTrip: borrowing RoundTripEstimator) {
    hasSeenReordering = true
    lossesSinceSpurious = 0
    if reorderWindowMultiplier * roundTrip.minimum / 4 < roundTrip.smoothed {
      reorderWindowMultiplier += 1
    }
  }

  /// Discards the measurements of the old path. Packet numbers continue on the new path.
  mutating func resetPath() {
    hasSeenReordering = false
    reorderWindowMultiplier = 1
    probes = 0
  }

  /// Returns the reordering window in nanoseconds: the time beyond one round trip after which a
  /// packet is considered lost.
  private func reorderWindow(_ roundTrip: borrowing RoundTripEstimator) -> Int64 {
    min(max(reorderWindowMultiplier * roundTrip.minimum / 4, 1), roundTrip.smoothed)
  }

  /// Returns the time, in nanoseconds, at which an outstanding packet will be declared lost, or nil
  /// while no packet sent later has been acknowledged.
  func lossDeadline(
    of number: UInt64, sent: Int64, _ roundTrip: borrowing RoundTripEstimator
  ) -> Int64? {
    guard let largestAcknowledged, number < largestAcknowledged, sent <= newestSent
    else { return nil }
    if !hasSeenReordering, largestAcknowledged - number >= Self.reorderingThreshold { return sent }
    return sent + newestRoundTrip + reorderWindow(roundTrip)
  }

  /// Returns the time, in nanoseconds, at which to send a probe. `asked` is the send time of the
  /// packet that should elicit the awaited acknowledgement.
  func probeDeadline(asked: Int64, _ roundTrip: borrowing RoundTripEstimator) -> Int64 {
    let base = roundTrip.probeTimeout
    // While acknowledgements arrive, the missing one may just be delayed in a queue.
    guard probes > 0 else { return max(asked + base, lastAnswer + roundTrip.smoothed / 4) }
    let doublings = min(max(0, probes - Self.probesBeforeBackoff + 1), 16)
    return lastProbe + min(base << Int64(doublings), max(base, Self.maximumProbeInterval))
  }
}
