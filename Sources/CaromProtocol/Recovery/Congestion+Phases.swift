extension Congestion {
  /// Rounds without growth that end the startup.
  private static let patientRounds = 3
  /// How long the round trip is watched with next to nothing under way, nanoseconds.
  private static let probeLength: Int64 = 200_000_000

  /// Growth after which the path counts as another one.
  private static let newLife = 1.4
  /// Rounds in a row with a queue that somebody else has to be the reason of.
  private static let suspiciousRounds = 8
  /// What is left of a share that a rival takes.
  private static let lostShare = 0.8
  /// How long after a rival was noticed it is seen whether it is still there, nanoseconds; then
  /// each time twice as long after.
  private static let firstLook: Int64 = 2_000_000_000
  private static let longestLook: Int64 = 8_000_000_000
  /// How long a rival that went is remembered, nanoseconds.
  private static let rivalryMemory: Int64 = 30_000_000_000
  /// The shortest round trip of a path that a rival fills is believed that much longer.
  private static let rivalPatience: Int64 = 60_000_000_000

  /// Moves on from phase to phase.
  mutating func step(_ report: Report) {
    if isRoundStart { believeFullRound(report) }
    if phase != .probeRoundTrip, phase != .compete,
      roundTrip.isMinimumStale(at: report.now - (isRivalKnown(report.now) ? Self.rivalPatience : 0))
    {
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
    case .compete: stepCompete(report)
    }
  }

  private func isRivalKnown(_ now: Int64) -> Bool { now - lastRivalry < Self.rivalryMemory }

  /// A round in which the queue never emptied delivered what the path can. Where that goes on,
  /// somebody else fills it; where it is short, loss tells the same.
  private mutating func believeFullRound(_ report: Report) {
    guard phase != .startup, phase != .drain, phase != .probeRoundTrip, phase != .compete,
      leastOfLastRound != .max, let sample = report.sample, !sample.isAppLimited
    else { return }
    if hasExcessLoss, phase == .down, isDownAfterUp { return noteOverflow(report) }
    guard leastOfLastRound - roundTrip.minimum > target, bestOfLastRound > 0 else {
      fullRounds = 0
      return
    }
    let queued = leastOfLastRound - roundTrip.minimum
    if fullRounds == 0 { (bandwidthBeforeFull, queueBeforeFull) = (bandwidth, queued) }
    fullRounds += 1
    // Flows that yield together keep their shares and shorten it; beside a rival the share goes,
    // and the queue stays.
    if fullRounds >= Self.suspiciousRounds, bandwidth < Self.lostShare * bandwidthAfterYield,
      queued >= queueBeforeFull / 2
    {
      let fill = bandwidthBeforeFull * Double(roundTrip.smoothed) / 1e9
      return enterCompete(bytes: fill, lookAfter: Self.firstLook, report)
    }
    settle(at: min(bestOfLastRound, bandwidth) * Self.yield)
    if fullRounds == 1 { bandwidthAfterYield = bandwidth }
  }

  private mutating func settle(at rate: Double) { (bestOfCycle, bestBefore) = (rate, 0) }

  // MARK: Rivals

  /// Looking for more overflowed a queue too short to be seen: when that goes on, or happened
  /// lately, somebody else may need the room.
  private mutating func noteOverflow(_ report: Report) {
    overflows += 1
    isDownAfterUp = false
    settle(at: Self.yieldToLoss * bandwidth)
    guard overflows >= (isRivalKnown(report.now) ? 1 : 2) else { return }
    enterCompete(bytes: product, lookAfter: Self.longestLook, report)
  }

  private mutating func enterCompete(bytes: Double, lookAfter pause: Int64, _ report: Report) {
    let least = Double(Self.minimumPackets * packetSize)
    rival = CompetitiveMode(bytes: max(bytes, least), packetSize: packetSize, at: report.now)
    fullRounds = 0
    overflows = 0
    lookPause = pause
    nextLook = report.now + lookPause
    enter(.compete, at: report.now)
  }

  private mutating func stepCompete(_ report: Report) {
    lastRivalry = report.now
    if isRoundStart, hasExcessLoss { rival?.reduce(packetSize: packetSize, at: report.now) }
    if let sample = report.sample, !sample.isAppLimited {
      rival?.grow(
        acknowledged: report.acknowledged, roundTrip: roundTrip.smoothed, packetSize: packetSize,
        at: report.now)
    }
    if isRoundStart, rounds % Self.suspiciousRounds == 0 {
      (bestBefore, bestOfCycle) = (bestOfCycle, 0)
    }
    guard report.now >= nextLook else { return }
    lookPause = min(2 * lookPause, Self.longestLook)
    nextLook = report.now + lookPause
    enter(.probeRoundTrip, at: report.now)
  }

  private mutating func enter(_ next: Phase, at now: Int64) {
    (phase, phaseStart, phaseRound) = (next, now, rounds)
  }

  mutating func enterStartup(at now: Int64) {
    fullBandwidth = 0
    stagnantRounds = 0
    growths = 0
    freshQueue = 0
    enter(.startup, at: now)
  }

  private mutating func stepStartup(_ report: Report) {
    guard let sample = report.sample, !sample.isAppLimited else { return }
    if isRoundStart && isStartupOver || freshQueue > target + roundTrip.minimum / 8 + jitter {
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
      isDownAfterUp = false
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
    isDownAfterUp = true
  }

  private mutating func stepDown(_ report: Report) {
    guard isRoundStart, rounds > phaseRound,
      Double(report.inFlight) <= product + 2 * Double(packetSize)
    else { return }
    let hasGrown = bandwidth > 1.15 * bandwidthBeforeUp && queue <= target
    if isDownAfterUp { overflows = 0 }
    if growths == 0 { bandwidthBeforeGrowth = bandwidthBeforeUp }
    growths = hasGrown ? growths + 1 : 0
    bestBefore = bestOfCycle
    bestOfCycle = 0
    bandwidthBeforeUp = bandwidth
    if growths >= 3, bandwidth > Self.newLife * bandwidthBeforeGrowth {
      enterStartup(at: report.now)
    } else if hasGrown {
      enter(.up, at: report.now)
    } else {
      enterCruise(at: report.now)
    }
  }

  private mutating func stepProbe(_ report: Report) {
    let length = rival == nil ? Self.probeLength : 0
    guard report.now - phaseStart >= length, rounds > phaseRound, isRoundStart,
      leastOfLastRound != .max
    else { return }
    if rival != nil, !roundTrip.isMinimumStale(at: report.now - Self.rivalPatience) {
      if leastOfLastRound - roundTrip.minimum > target { return enter(.compete, at: report.now) }
    } else {
      roundTrip.replaceMinimum(with: leastOfLastRound, at: report.now)
    }
    rival = nil
    if fullBandwidth == 0 { enterStartup(at: report.now) } else { enterCruise(at: report.now) }
  }
}
