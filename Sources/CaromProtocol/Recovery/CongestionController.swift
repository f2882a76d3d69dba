/// Decides how many bytes may be in flight and how fast packets are sent, from a model of the path:
/// its bandwidth, and its round-trip time without a queue (after BBR, Cardwell et al.).
///
/// Loss alone never lowers the rate; a persistent queue does. The controller sends a little more
/// than the estimated bandwidth for one round trip, a little less until the resulting queue has
/// drained, and then exactly the estimated bandwidth for some rounds. Times are in nanoseconds,
/// rates in bytes per second.
struct CongestionController: Sendable {
  /// The measurements that one acknowledgement provides.
  struct Report: Sendable {
    var now: Int64
    /// The round-trip time in nanoseconds, or nil if the acknowledgement provided no usable sample.
    var roundTrip: Int64?
    var sample: DeliveryRate.Sample?
    /// The total number of bytes delivered so far.
    var delivered: Int64
    /// The number of bytes that were newly acknowledged.
    var acknowledged: Int
    /// The number of bytes still in flight.
    var inFlight: Int
  }

  /// The smallest congestion window, in packets. It keeps a game running even if the model fails.
  static let minimumWindowPackets = 4
  /// The smallest sending rate, in bytes per second. It keeps a game running even if the model
  /// fails.
  static let minimumRate = 16_000.0
  /// The congestion window before anything is known about the path, in packets.
  static let initialWindowPackets = 16
  /// The sending rate during startup, relative to the estimated bandwidth.
  static let startupGain = 2.77
  /// The number of additional packets per round trip that a flow sends to probe for more bandwidth.
  static let probePackets = 8
  /// The pacing rate in competitive mode, relative to one window per round trip.
  static let competitiveGain = 1.2
  /// The maximum rate of random loss for which the sending rate compensates.
  static let maximumRandomLoss = 0.3
  /// The number of rounds at the beginning of a flow from which the jitter is first estimated: the
  /// lowest jitter of these rounds is the initial estimate.
  private static let jitterLearningRounds = 3
  /// The lower bound of the tolerated queueing delay: 4 ms. The controller tolerates a quarter of
  /// the round-trip time, limited to the range from this bound to `maximumQueueTarget`.
  static let minimumQueueTarget: Int64 = 4_000_000
  /// The upper bound of the tolerated queueing delay: 25 ms.
  static let maximumQueueTarget: Int64 = 25_000_000

  // Every packet needs the first of these properties, every acknowledgement also those up to
  // `recentQueue`.
  var roundTrip = RoundTripEstimator()
  /// The congestion window: the maximum number of bytes in flight.
  private(set) var window = CongestionController.initialWindowPackets * PathMTUSearch.base
  /// The sending rate, in bytes per second.
  private(set) var rate = CongestionController.minimumRate
  var packetSize = PathMTUSearch.base { didSet { refresh() } }
  var phase = CongestionPhase.startup(CongestionPhase.Startup())
  /// Whether the window and the rate are at their minimum, because more than
  /// `LossDetector.probesBeforeBackoff` consecutive probes went unanswered.
  private(set) var isStalled = false
  /// The loss rate of the packets sent while `isCalm` was true. This flow cannot have caused their
  /// loss.
  private var calmLoss = LossRate(memory: 512)
  /// The loss rate of all packets.
  private var totalLoss = LossRate(memory: 512)
  /// The loss rate of packets that were acknowledged or declared lost during startup.
  private var startupLoss = LossRate(memory: 64)

  var bandwidthFilter = BandwidthFilter()
  var rounds = RoundStatistics()
  var recentQueue = RecentQueue()

  var competition = CompetitionDetector()
  var growth = BandwidthGrowth()
  /// The state of competitive mode, which is kept during a round-trip probe; nil outside
  /// competitive mode.
  @Boxed var competitiveMode: CompetitiveMode?
  /// The number of cruise phases so far, used to vary their length.
  var cruises = 0

  init(roundTrip: RoundTripEstimator = RoundTripEstimator()) {
    self.roundTrip = roundTrip
    refresh()
  }

  // MARK: The model

  /// The bandwidth that the path delivers, in bytes per second.
  var bandwidth: Double { bandwidthFilter.value }
  /// The fraction of packets that the path loses at any sending rate.
  var randomLoss: Double { min(calmLoss.value, Self.maximumRandomLoss) }
  /// The sending rate at which data arrives at the rate `bandwidth` despite random loss, in bytes
  /// per second.
  var wireBandwidth: Double { bandwidth / (1 - randomLoss) }

  /// The tolerated queueing delay in nanoseconds, jitter included.
  var queueTarget: Int64 { baseQueueTarget + min(rounds.jitter, roundTrip.minimum / 2) }
  private var baseQueueTarget: Int64 {
    min(max(roundTrip.minimum / 4, Self.minimumQueueTarget), Self.maximumQueueTarget)
  }

  /// Whether startup must end: the queue has persisted through a whole round.
  var isStartupOver: Bool {
    rounds.last.minimum != .max
      && rounds.last.minimum - roundTrip.minimum > max(baseQueueTarget, roundTrip.minimum / 4)
  }

  /// The queueing delay in nanoseconds: the shortest round-trip time of this round and the last
  /// one, less the shortest round-trip time of the path; 0 without samples.
  var queue: Int64 {
    let least = min(rounds.last.minimum, rounds.current.minimum)
    return least == .max ? 0 : least - roundTrip.minimum
  }

  /// The average round-trip time while no queue builds up, in nanoseconds.
  var unqueuedRoundTrip: Int64 { roundTrip.minimum + min(rounds.jitter, roundTrip.minimum) }

  /// The bandwidth-delay product: the number of bytes in flight that fill the path without a queue.
  var bandwidthDelayProduct: Double { wireBandwidth * Double(roundTrip.minimum) / 1e9 }

  /// The number of bytes in flight that fill the path and the tolerated queue.
  private var fullPath: Double {
    bandwidthDelayProduct + Double(queueTarget + rounds.jitter) / 1e9 * wireBandwidth
  }

  /// Whether the loss of a packet sent now would have a cause other than a queue that this flow has
  /// filled. Only in the phase `down` is this certain.
  var isCalm: Bool {
    if case .down = phase { return true }
    return false
  }

  // MARK: Window and rate

  /// Recomputes the window and the rate after the model has changed.
  mutating func refresh() {
    let startup = phase.isStartup ? findStartupBandwidth() : 0
    window = findWindow(startup)
    rate = findRate(startup)
  }

  // These methods are mutating so that the model is accessed in place rather than copied.
  @inline(__always) private mutating func findWindow(_ startupBandwidth: Double) -> Int {
    let least = Self.minimumWindowPackets * packetSize
    let first = Self.initialWindowPackets * packetSize
    if isStalled { return least }
    switch phase {
    case .startup:
      return max(first, Int(2 * startupBandwidth * Double(unqueuedRoundTrip) / 1e9))
    case .probeRoundTrip: return max(least, Int(bandwidthDelayProduct / 2))
    case .compete: return max(least, Int(competitiveMode?.window ?? 0))
    case .up: return least + Int(1.25 * fullPath) + Self.probePackets * packetSize
    case .drain, .down, .cruise: return least + Int(fullPath)
    }
  }

  @inline(__always) private mutating func findRate(_ startupBandwidth: Double) -> Double {
    if isStalled { return Self.minimumRate }
    let first = Double(Self.initialWindowPackets * packetSize) * 1e9 / Double(roundTrip.smoothed)
    switch phase {
    case .startup: return max(Self.minimumRate, first, Self.startupGain * startupBandwidth)
    case .drain: return max(Self.minimumRate, 0.5 * wireBandwidth)
    case .up: return max(Self.minimumRate, 1.25 * wireBandwidth + probeRate)
    case .down: return max(Self.minimumRate, 0.75 * wireBandwidth)
    case .cruise, .probeRoundTrip: return max(Self.minimumRate, wireBandwidth)
    case .compete:
      let even = (competitiveMode?.window ?? 0) * 1e9 / Double(roundTrip.smoothed)
      return max(Self.minimumRate, Self.competitiveGain * even)
    }
  }

  /// Returns the estimated bandwidth from which startup computes the window and the rate, in bytes
  /// per second. Because `calmLoss` may not have a measurement yet, all loss during startup counts
  /// as random loss until a queue builds up.
  @inline(__always) private mutating func findStartupBandwidth() -> Double {
    let loss = queue <= queueTarget ? min(startupLoss.value, Self.maximumRandomLoss) : 0
    return bandwidth / (1 - max(loss, randomLoss))
  }

  /// The additional rate while probing for bandwidth, in bytes per second. It does not scale with
  /// the flow's bandwidth, so that a flow with a small share gains relative to the others.
  private var probeRate: Double {
    Double(Self.probePackets * packetSize) * 1e9 / Double(max(roundTrip.smoothed, 1_000_000))
  }

  // MARK: Events

  /// Records that a packet was acknowledged or declared lost. The argument `isCalm` is the value of
  /// the property `isCalm` when the packet was sent.
  @inline(__always) mutating func recordFate(isLost: Bool, isCalm: Bool) {
    if isCalm { calmLoss.add(isLost: isLost) }
    if phase.isStartup { startupLoss.add(isLost: isLost) }
    totalLoss.add(isLost: isLost)
    rounds.current.packets += 1
    if isLost { rounds.current.losses += 1 }
  }

  /// Undoes a recorded loss, because the packet was acknowledged after all.
  mutating func undoLoss(isCalm: Bool) {
    if isCalm { calmLoss.undoLoss() }
    if phase.isStartup { startupLoss.undoLoss() }
    totalLoss.undoLoss()
    rounds.current.losses = max(0, rounds.current.losses - 1)
  }

  /// Updates the model, the phase, the window and the rate after an acknowledgement.
  mutating func handle(_ report: Report) {
    if report.acknowledged > 0, isStalled { recover(at: report.now) }
    if let sample = report.sample { add(sample, report) }
    if let latest = report.roundTrip {
      rounds.current.add(roundTrip: latest)
      recentQueue.add(roundTrip: latest, minimum: roundTrip.minimum)
    }
    updatePhase(report)
    rounds.isStart = false
    refresh()
  }

  @inline(__always) private mutating func add(_ sample: DeliveryRate.Sample, _ report: Report) {
    if sample.priorDelivered >= rounds.end { beginRound(until: report.delivered) }
    rounds.current.bandwidth = max(rounds.current.bandwidth, sample.rate)
    bandwidthFilter.add(sample.rate, isAppLimited: sample.isAppLimited)
  }

  @inline(__always) private mutating func beginRound(until end: Int64) {
    rounds.count += 1
    if rounds.count <= Self.jitterLearningRounds {
      rounds.learnInitialJitter()
    } else if case .cruise = phase, queue <= queueTarget {
      rounds.updateJitter()
    }
    let expectedShare = calmLoss.weight < 32 ? totalLoss.value : randomLoss
    rounds.begin(until: end, expectedLoss: expectedShare, minimumRoundTrip: roundTrip.minimum)
  }

  /// Reduces the window and the rate to their minimum until an acknowledgement arrives. Called when
  /// too many consecutive probes have gone unanswered.
  mutating func stall() {
    isStalled = true
    refresh()
  }

  private mutating func recover(at now: Int64) {
    isStalled = false
    bandwidthFilter.reset(to: bandwidth / 2)
    enterStartup()
  }
}
