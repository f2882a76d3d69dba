extension CongestionController {
  /// The number of rounds without growth of the bandwidth after which startup ends.
  private static let stagnantRoundLimit = 3
  /// The minimum length of a round-trip probe, in nanoseconds: 200 ms.
  private static let roundTripProbeLength: Int64 = 200_000_000

  /// Advances to the next phase if the condition for it is met.
  mutating func updatePhase(_ report: Report) {
    if rounds.isStart, detectCompetition(report) { return }
    beginRoundTripProbe(at: report.now)
    switch phase {
    case .startup(let startup): updateStartup(startup, report)
    case .drain: if Double(report.inFlight) <= bandwidthDelayProduct { enterCruise() }
    case .cruise(let end): updateCruise(until: end, report)
    case .up(let start):
      guard rounds.isStart, rounds.count > start else { return }
      phase = .down(since: rounds.count, followsProbe: true)
    case .down(let start, let followsProbe):
      updateDown(since: start, followsProbe: followsProbe, report)
    case .probeRoundTrip(let probe): updateRoundTripProbe(probe, report)
    case .compete: updateCompete(report)
    }
  }

  // MARK: Startup

  mutating func enterStartup() {
    growth.reset()
    recentQueue.reset()
    phase = .startup(CongestionPhase.Startup())
  }

  private mutating func updateStartup(_ startup: CongestionPhase.Startup, _ report: Report) {
    guard let sample = report.sample, !sample.isAppLimited else { return }
    let tolerance = queueTarget + roundTrip.minimum / 8 + rounds.jitter
    if rounds.isStart && isStartupOver || recentQueue.delay > tolerance { return phase = .drain }
    guard rounds.isStart else { return }
    var startup = startup
    if bandwidth >= 1.25 * startup.bandwidth {
      startup = CongestionPhase.Startup(bandwidth: bandwidth)
    } else {
      startup.stagnantRounds += 1
    }
    phase = startup.stagnantRounds >= Self.stagnantRoundLimit ? .drain : .startup(startup)
  }

  // MARK: The bandwidth cycle

  private mutating func enterCruise() {
    cruises += 1
    // Flows that began together should not probe for bandwidth at the same time.
    phase = .cruise(until: rounds.count + 3 + cruises * 5 % 4)
  }

  private mutating func updateCruise(until end: Int, _ report: Report) {
    guard rounds.isStart else { return }
    if queue > queueTarget {
      phase = .down(since: rounds.count, followsProbe: false)
    } else if rounds.count >= end, let sample = report.sample, !sample.isAppLimited {
      growth.bandwidthBeforeProbe = bandwidth
      phase = .up(since: rounds.count)
    }
  }

  private mutating func updateDown(since start: Int, followsProbe: Bool, _ report: Report) {
    guard rounds.isStart, rounds.count > start,
      Double(report.inFlight) <= bandwidthDelayProduct + 2 * Double(packetSize)
    else { return }
    let hasGrown = growth.isGrowth(to: bandwidth) && queue <= queueTarget
    if followsProbe { competition.overflows = 0 }
    bandwidthFilter.beginCycle()
    growth.recordCycle(hasGrown: hasGrown, bandwidth: bandwidth)
    if growth.hasOutgrownPath(bandwidth) {
      enterStartup()
    } else if hasGrown {
      phase = .up(since: rounds.count)
    } else {
      enterCruise()
    }
  }

  // MARK: Round-trip probes

  /// Begins a round-trip probe if no recent sample came near the shortest round-trip time.
  private mutating func beginRoundTripProbe(at now: Int64) {
    var resumesStartup = false
    switch phase {
    case .startup(let startup): resumesStartup = startup.bandwidth == 0
    case .drain, .cruise, .up, .down: break
    case .probeRoundTrip, .compete: return
    }
    guard roundTrip.isMinimumStale(at: now - competition.roundTripPatience(at: now)) else { return }
    rounds.last.minimum = .max
    phase = .probeRoundTrip(
      CongestionPhase.RoundTripProbe(
        start: now, round: rounds.count + 1, resumesStartup: resumesStartup))
  }

  private mutating func updateRoundTripProbe(
    _ probe: CongestionPhase.RoundTripProbe, _ report: Report
  ) {
    let length = competitiveMode == nil ? Self.roundTripProbeLength : 0
    guard report.now - probe.start >= length, rounds.count > probe.round, rounds.isStart,
      rounds.last.minimum != .max
    else { return }
    let patience = CompetitionDetector.roundTripPatience
    if competitiveMode != nil, !roundTrip.isMinimumStale(at: report.now - patience) {
      if rounds.last.minimum - roundTrip.minimum > queueTarget {
        return phase = .compete
      }
    } else {
      roundTrip.replaceMinimum(with: rounds.last.minimum, at: report.now)
    }
    competitiveMode = nil
    if probe.resumesStartup { enterStartup() } else { enterCruise() }
  }
}
