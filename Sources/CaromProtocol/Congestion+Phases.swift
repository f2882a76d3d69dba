extension Congestion {
  /// Rounds without growth that end the startup.
  private static let patientRounds = 3
  /// How long the round trip is watched with next to nothing under way, nanoseconds.
  private static let probeLength: Int64 = 200_000_000

  /// Moves on from phase to phase.
  mutating func step(_ report: Report) {
    if isRoundStart { believeFullRound(report) }
    if phase != .probeRoundTrip, roundTrip.isMinimumStale(at: report.now) {
      enter(.probeRoundTrip, at: report.now)
      leastOfLastRound = .max
      phaseRound = rounds + 1
    }
    switch phase {
    case .startup: stepStartup(report)
    case .drain: if Double(report.inFlight) <= product { enterCruise(at: report.now) }
    case .cruise: stepCruise(report)
    case .up: stepUp(report)
    case .down: stepDown(report)
    case .probeRoundTrip: stepProbe(report)
    }
  }

  /// A round in which the queue never emptied delivered what the path can.
  private mutating func believeFullRound(_ report: Report) {
    guard phase != .startup, leastOfLastRound != .max,
      leastOfLastRound - roundTrip.minimum > target, let sample = report.sample,
      !sample.isAppLimited, bestOfLastRound > 0
    else { return }
    (bestOfCycle, bestBefore) = (min(bestOfLastRound, bandwidth) * Self.yield, 0)
  }

  private mutating func enter(_ next: Phase, at now: Int64) {
    (phase, phaseStart, phaseRound) = (next, now, rounds)
  }

  mutating func enterStartup(at now: Int64) {
    fullBandwidth = 0
    stagnantRounds = 0
    growths = 0
    enter(.startup, at: now)
  }

  private mutating func stepStartup(_ report: Report) {
    guard let sample = report.sample, !sample.isAppLimited else { return }
    if let fresh = freshQueue, fresh > target + roundTrip.minimum / 8 + jitter {
      fullBandwidth = bandwidth
      return enter(.drain, at: report.now)
    }
    guard isRoundStart else { return }
    if bandwidth >= 1.25 * fullBandwidth {
      fullBandwidth = bandwidth
      stagnantRounds = 0
    } else {
      stagnantRounds += 1
    }
    if stagnantRounds >= Self.patientRounds { enter(.drain, at: report.now) }
  }

  private mutating func enterCruise(at now: Int64) {
    enter(.cruise, at: now)
    cruises += 1
    // Flows that began together should not look for more together.
    phaseRound = rounds + 3 + cruises * 5 % 4
  }

  private mutating func stepCruise(_ report: Report) {
    if isRoundStart, queue > target {
      enter(.down, at: report.now)
    } else if isRoundStart, rounds >= phaseRound, let sample = report.sample,
      !sample.isAppLimited
    {
      bandwidthBeforeUp = bandwidth
      enter(.up, at: report.now)
    }
  }

  private mutating func stepUp(_ report: Report) {
    guard isRoundStart, rounds > phaseRound else { return }
    enter(.down, at: report.now)
  }

  private mutating func stepDown(_ report: Report) {
    guard isRoundStart, rounds > phaseRound,
      Double(report.inFlight) <= product + 2 * Double(packetSize)
    else { return }
    let hasGrown = bandwidth > 1.15 * bandwidthBeforeUp && queue <= target
    growths = hasGrown ? growths + 1 : 0
    bestBefore = bestOfCycle
    bestOfCycle = 0
    bandwidthBeforeUp = bandwidth
    if growths >= 2 {
      enterStartup(at: report.now)
    } else if hasGrown {
      enter(.up, at: report.now)
    } else {
      enterCruise(at: report.now)
    }
  }

  private mutating func stepProbe(_ report: Report) {
    guard report.now - phaseStart >= Self.probeLength, rounds > phaseRound, isRoundStart,
      leastOfLastRound != .max
    else { return }
    roundTrip.replaceMinimum(with: leastOfLastRound, at: report.now)
    if fullBandwidth == 0 { enterStartup(at: report.now) } else { enterCruise(at: report.now) }
  }
}
