#if !arch(wasm32)
  extension CongestionController {
    /// The number of rounds in one cycle of the bandwidth estimate in competitive mode.
    private static let bandwidthCycle = 8

    /// Enters competitive mode, and returns true. A page in a browser has no such mode, and
    /// returns false. If `isCertain` is false, other traffic may not be the cause, and the first
    /// check of whether it has ended comes later.
    mutating func enterCompete(window: Double, isCertain: Bool, _ report: Report) -> Bool {
      let least = Double(Self.minimumWindowPackets * packetSize)
      let checkInterval =
        isCertain ? CompetitiveMode.shortestCheckInterval : CompetitiveMode.longestCheckInterval
      competitiveMode = CompetitiveMode(
        window: max(window, least), packetSize: packetSize, checkInterval: checkInterval,
        at: report.now)
      competition.reset()
      competition.lastSeen = report.now
      phase = .compete
      return true
    }

    mutating func updateCompete(_ report: Report) {
      let (now, packetSize, roundTrip) = (report.now, packetSize, roundTrip.smoothed)
      competition.lastSeen = now
      if rounds.isStart, rounds.hasExcessLoss {
        competitiveMode?.reduce(packetSize: packetSize, at: now)
      }
      if let sample = report.sample, !sample.isAppLimited {
        competitiveMode?.grow(
          acknowledged: report.acknowledged, roundTrip: roundTrip, packetSize: packetSize, at: now)
      }
      if rounds.isStart, rounds.count % Self.bandwidthCycle == 0 { bandwidthFilter.beginCycle() }
      guard competitiveMode?.isCheckDue(at: now) == true else { return }
      competitiveMode?.scheduleCheck(after: now)
      phase = .probeRoundTrip(
        CongestionPhase.RoundTripProbe(start: now, round: rounds.count, resumesStartup: false))
    }
  }
#endif
