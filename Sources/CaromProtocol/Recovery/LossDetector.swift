/// When a packet counts as lost (RFC 8985): when one that left later came, and time enough for
/// being overtaken has passed besides. Everything is nanoseconds.
struct LossDetector: Sendable {
  /// Packets that came after a missing one, where nothing was ever overtaken (RFC 8985 §6.2).
  static let overtakers: UInt64 = 3
  /// Losses without a mistake after which the window shrinks again.
  static let calmLosses = 64
  /// Probes before the pause between them doubles, and before everything counts as lost.
  static let patientProbes = 3
  /// Answers beyond the first that a probe waits for while packets leave one after another.
  static let furtherAnswers = 2
  /// The longest pause between probes, except where one round trip is longer.
  static let longestPause: Int64 = 1_000_000_000

  /// The largest number that was acknowledged, when that packet left and how long it took.
  private(set) var largest: UInt64?
  private var newestSent: Int64 = 0
  private var newestRoundTrip: Int64 = 0
  /// Quarters of the shortest round trip that a packet may be late.
  private var quarters: Int64 = 1
  private var sawReordering = false
  private var lossesSinceMistake = 0
  /// Probes that were sent since an answer last came.
  private(set) var probes = 0
  private var lastProbe = Int64.min
  private var lastAnswer = Int64.min / 2

  /// A packet that left at `sent` came.
  mutating func noteAcknowledged(_ number: UInt64, sent: Int64, at now: Int64) {
    if let largest, number < largest {
      sawReordering = true
    } else {
      largest = number
    }
    guard sent >= newestSent else { return }
    newestSent = sent
    newestRoundTrip = now - sent
  }

  mutating func noteAnswer(at now: Int64) {
    probes = 0
    lastAnswer = now
  }

  mutating func noteProbe(at now: Int64) {
    probes += 1
    lastProbe = now
  }

  mutating func noteLoss() {
    lossesSinceMistake += 1
    guard lossesSinceMistake >= Self.calmLosses else { return }
    quarters = 1
    lossesSinceMistake = 0
  }

  /// A packet came after all.
  mutating func noteMistake(_ roundTrip: borrowing RoundTripEstimator) {
    sawReordering = true
    lossesSinceMistake = 0
    if quarters * roundTrip.minimum / 4 < roundTrip.smoothed { quarters += 1 }
  }

  /// Numbers go on, but nothing is known of how they travel.
  mutating func forgetPath() {
    sawReordering = false
    quarters = 1
    probes = 0
  }

  /// How late a packet may be.
  func window(_ roundTrip: borrowing RoundTripEstimator) -> Int64 {
    min(max(quarters * roundTrip.minimum / 4, 1), roundTrip.smoothed)
  }

  /// When a waiting packet counts as lost; `nil` while none that left later came.
  func deadline(
    of number: UInt64, sent: Int64, _ roundTrip: borrowing RoundTripEstimator
  ) -> Int64? {
    guard let largest, number < largest, sent <= newestSent else { return nil }
    if !sawReordering, largest - number >= Self.overtakers { return sent }
    return sent + newestRoundTrip + window(roundTrip)
  }

  /// When a probe asks after a packet that the peer answers half a round trip after `asked`.
  func probeDeadline(asked: Int64, _ roundTrip: borrowing RoundTripEstimator) -> Int64 {
    let base = roundTrip.probeTimeout
    // While answers come, the one that is wanted may be on its way in a queue.
    guard probes > 0 else { return max(asked + base, lastAnswer + roundTrip.smoothed / 4) }
    let doublings = min(max(0, probes - Self.patientProbes + 1), 16)
    return lastProbe + min(base << Int64(doublings), max(base, Self.longestPause))
  }
}
