extension CongestionController {
  /// The fraction of its rate that the controller keeps when a queue persists.
  private static let queueBackoff = 0.95
  /// The fraction of its rate that the controller keeps after a bandwidth probe that overflowed a
  /// queue.
  private static let overflowBackoff = 0.85

  /// Lowers the bandwidth estimate after a round in which the queue never emptied, because such a
  /// round delivers as much as the path can carry. Enters competitive mode if the queue persists
  /// nevertheless, because competing traffic must be filling it. A queue that is too short to be
  /// measured is detected by its losses instead.
  ///
  /// Returns whether competitive mode begins. Its first window already allows for the losses and
  /// the queue of the last round.
  mutating func detectCompetition(_ report: Report) -> Bool {
    switch phase {
    case .cruise, .up, .down: break
    case .startup, .drain, .probeRoundTrip, .compete: return false
    }
    guard rounds.last.minimum != .max, let sample = report.sample, !sample.isAppLimited
    else { return false }
    if rounds.hasExcessLoss, case .down(let start, followsProbe: true) = phase {
      phase = .down(since: start, followsProbe: false)
      return handleOverflow(report)
    }
    let queue = rounds.last.minimum - roundTrip.minimum
    guard queue > queueTarget, rounds.last.bandwidth > 0 else {
      competition.recordEmptyQueue()
      return false
    }
    competition.recordFullQueue(queue, bandwidth: bandwidth)
    if competition.isSuspected(queue: queue, bandwidth: bandwidth) {
      let window = competition.bandwidthBeforeQueue * Double(roundTrip.smoothed) / 1e9
      if enterCompete(window: window, isCertain: true, report) { return true }
    }
    bandwidthFilter.reset(to: min(rounds.last.bandwidth, bandwidth) * Self.queueBackoff)
    competition.recordBackoff(to: bandwidth)
    return false
  }

  /// Backs off after a bandwidth probe that overflowed the queue. Enters competitive mode if two
  /// probes in a row have done so, or just one if competing traffic was detected recently: other
  /// traffic may be filling the queue. Returns whether competitive mode begins.
  private mutating func handleOverflow(_ report: Report) -> Bool {
    competition.overflows += 1
    bandwidthFilter.reset(to: Self.overflowBackoff * bandwidth)
    guard competition.overflows >= (competition.isRecent(at: report.now) ? 1 : 2)
    else { return false }
    return enterCompete(window: bandwidthDelayProduct, isCertain: false, report)
  }
}
