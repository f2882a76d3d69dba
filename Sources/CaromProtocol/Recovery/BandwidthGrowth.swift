/// The growth of the estimated bandwidth from one bandwidth probe to the next, in bytes per second.
struct BandwidthGrowth: Sendable {
  /// A probe counts as successful if it raises the bandwidth by more than this factor.
  private static let successFactor = 1.15
  /// The number of consecutive successful probes after which the path is suspected to have changed.
  private static let successLimit = 3
  /// The growth of the bandwidth over `successLimit` probes, as a factor, above which the path has
  /// probably changed.
  private static let newPathFactor = 1.4

  var bandwidthBeforeProbe = 0.0
  private var successes = 0
  private var bandwidthBeforeSuccesses = 0.0

  /// Returns whether `bandwidth` exceeds the bandwidth before the latest probe by enough for the
  /// probe to count as successful.
  func isGrowth(to bandwidth: Double) -> Bool {
    bandwidth > Self.successFactor * bandwidthBeforeProbe
  }

  /// Records the end of a probe cycle: whether the probe was successful (`hasGrown`), and the
  /// current bandwidth.
  mutating func recordCycle(hasGrown: Bool, bandwidth: Double) {
    if successes == 0 { bandwidthBeforeSuccesses = bandwidthBeforeProbe }
    successes = hasGrown ? successes + 1 : 0
    bandwidthBeforeProbe = bandwidth
  }

  /// Returns whether the path has probably changed, so that startup must begin again: at least
  /// `successLimit` consecutive probes were successful, and `bandwidth` is more than
  /// `newPathFactor` times the bandwidth before the first of them.
  func hasOutgrownPath(_ bandwidth: Double) -> Bool {
    successes >= Self.successLimit && bandwidth > Self.newPathFactor * bandwidthBeforeSuccesses
  }

  mutating func reset() { successes = 0 }
}
