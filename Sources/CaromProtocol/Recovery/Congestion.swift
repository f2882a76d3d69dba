/// How much may be under way and how fast it leaves, from a model of the path: what it delivers at
/// most, and its round trip without a queue (after BBR, Cardwell and others).
///
/// Loss alone never slows it down; a queue does. It sends somewhat more than the path carried for
/// a round trip, somewhat less until that has drained, and for some rounds just that much.
struct Congestion: Sendable {
  enum Phase: Hashable, Sendable {
    /// Nearly triples the rate each round trip until the path gives no more.
    case startup
    /// Gives the queue of the startup time to drain.
    case drain
    /// Keeps the rate.
    case cruise
    /// Looks for more.
    case up
    /// Drains what that queued.
    case down
    /// Keeps very little under way, to see the round trip without a queue.
    case probeRoundTrip
    /// Shares with somebody who fills the queue.
    case compete
  }

  /// What an acknowledgement told.
  struct Report: Sendable {
    var now: Int64
    /// Nanoseconds; `nil` where there is none.
    var roundTrip: Int64?
    var sample: DeliveryRate.Sample?
    /// Bytes delivered in all, acknowledged by this, and still under way.
    var delivered: Int64
    var acknowledged: Int
    var inFlight: Int
  }

  /// Packets that may always be under way, and bytes a second that may always leave, so that a
  /// game goes on whatever the model says.
  static let minimumPackets = 4
  static let minimumRate = 16_000.0
  /// Packets under way before anything is known.
  static let initialPackets = 16
  static let startupGain = 2.77
  /// Packets a round trip that a flow sends on top when it looks for more.
  static let probePackets = 8
  /// How much faster than evenly packets leave beside a rival.
  static let competingGain = 1.2
  /// What it keeps of its rate when a queue stays.
  static let yield = 0.95
  /// The same where looking for more cost more packets than chance did.
  static let yieldToLoss = 0.85
  /// Loss at random that the rate makes up for.
  static let maximumLoss = 0.3
  /// Rounds in which jitter is learnt for the first time.
  private static let firstRounds = 3
  /// Round trips whose least says whether something queues.
  static let enoughSamples = 8
  /// The queue that it allows itself, nanoseconds: a quarter of the round trip within bounds.
  static let shortestTarget: Int64 = 4_000_000
  static let longestTarget: Int64 = 25_000_000

  var roundTrip = RoundTripEstimator()
  var packetSize = PathMTUSearch.base { didSet { refresh() } }
  var phase = Phase.startup
  /// Nothing has been answered for long.
  var isStalled = false

  /// The most that was delivered, bytes a second, in this cycle and the one before.
  var bestOfCycle = 0.0
  var bestBefore = 0.0
  /// The loss of packets that left while the sender held back: not its own doing.
  private var calmLoss = LossRate(memory: 512)
  /// All loss.
  private var pastLoss = LossRate(memory: 512)
  /// The loss at the beginning.
  private var startLoss = LossRate(memory: 64)

  // Rounds: from a packet's leaving to its acknowledgement.
  private var roundEnd: Int64 = 0
  private var leastOfRound = Int64.max
  private var sumOfRound: Int64 = 0
  private(set) var samplesOfRound = 0
  private var leastOfFew = Int64.max
  private var few = 0
  /// What the last few packets waited in queues, nanoseconds.
  var freshQueue: Int64 = 0
  private var mostOfRound: Int64 = 0
  private(set) var mostOfLastRound: Int64 = 0
  /// The longest that a packet waited in queues of late.
  private var longestQueue: Int64 = 0
  private var heardOfRound = 0
  private var lostOfRound = 0
  /// Whether more was lost in the last round than by chance.
  private(set) var hasExcessLoss = false
  /// How much longer than the least of its round a round trip is, where nothing queues: jitter.
  private(set) var jitter: Int64 = 0
  private var bestOfRound = 0.0
  /// The least round trip of the last whole round, and the most that it delivered.
  var leastOfLastRound = Int64.max
  var bestOfLastRound = 0.0
  var rounds = 0
  var isRoundStart = false

  // What the phases remember.
  var fullBandwidth = 0.0
  var stagnantRounds = 0
  /// The round in which the phase began, or is to end.
  var phaseRound = 0
  var phaseStart: Int64 = 0
  var bandwidthBeforeUp = 0.0
  var growths = 0
  var bandwidthBeforeGrowth = 0.0
  var isDownAfterUp = false
  var cruises = 0
  /// The window beside a rival; it outlives a look at the round trip.
  var rival: CompetitiveMode?
  /// Rounds in a row in which the queue did not empty, and what was delivered before them.
  var fullRounds = 0
  var bandwidthBeforeFull = 0.0
  var bandwidthAfterYield = 0.0
  var queueBeforeFull: Int64 = 0
  /// Looks for more in a row that overflowed the queue, and when it last shared with a rival.
  var overflows = 0
  var lastRivalry = Int64.min / 2
  /// When it is seen next whether the rival is still there, and how long after that again.
  var nextLook: Int64 = 0
  var lookPause: Int64 = 0

  init(roundTrip: RoundTripEstimator = RoundTripEstimator()) {
    self.roundTrip = roundTrip
    refresh()
  }

  // MARK: The model

  /// Bytes a second that the path delivers.
  var bandwidth: Double { max(bestOfCycle, bestBefore) }
  /// The share of packets that is lost whatever the rate.
  var randomLoss: Double { min(calmLoss.value, Self.maximumLoss) }
  /// Bytes a second that have to leave so that `bandwidth` arrives.
  var wireBandwidth: Double { bandwidth / (1 - randomLoss) }

  /// The queue that it allows itself, nanoseconds.
  var target: Int64 { ownQueue + min(jitter, roundTrip.minimum / 2) }
  private var ownQueue: Int64 {
    min(max(roundTrip.minimum / 4, Self.shortestTarget), Self.longestTarget)
  }

  /// Whether the queue of a whole round ends the startup.
  var isStartupOver: Bool {
    leastOfLastRound != .max
      && leastOfLastRound - roundTrip.minimum > max(ownQueue, roundTrip.minimum / 4)
  }

  /// How long packets wait in queues, nanoseconds: the least of a round.
  var queue: Int64 {
    let least = min(leastOfLastRound, leastOfRound)
    return least == .max ? 0 : least - roundTrip.minimum
  }

  /// What a round trip takes on average when nothing queues.
  var unqueued: Int64 { roundTrip.minimum + min(jitter, roundTrip.minimum) }

  /// Bytes that are under way when nothing queues.
  var product: Double { wireBandwidth * Double(roundTrip.minimum) / 1e9 }

  // MARK: What it allows

  /// Bytes that may be under way.
  private(set) var window = Congestion.initialPackets * PathMTUSearch.base
  /// Bytes a second that leave.
  private(set) var rate = Congestion.minimumRate

  /// Works both out anew, when the model has changed.
  mutating func refresh() {
    window = wantedWindow
    rate = wantedRate
  }

  // Always inlined: a call would copy the model.
  @inline(__always) private var wantedWindow: Int {
    let least = Self.minimumPackets * packetSize
    let first = Self.initialPackets * packetSize
    if isStalled { return least }
    let room = Double(target + jitter) / 1e9 * wireBandwidth
    switch phase {
    case .startup: return max(first, Int(2 * startupBandwidth * Double(unqueued) / 1e9))
    case .probeRoundTrip: return max(least, Int(product / 2))
    case .compete: return max(least, Int(rival?.bytes ?? 0))
    case .up: return least + Int(1.25 * (product + room)) + Self.probePackets * packetSize
    case .drain, .down, .cruise: return least + Int(product + room)
    }
  }

  @inline(__always) private var wantedRate: Double {
    if isStalled { return Self.minimumRate }
    let first = Double(Self.initialPackets * packetSize) * 1e9 / Double(roundTrip.smoothed)
    switch phase {
    case .startup: return max(Self.minimumRate, first, Self.startupGain * startupBandwidth)
    case .drain: return max(Self.minimumRate, 0.5 * wireBandwidth)
    case .up: return max(Self.minimumRate, 1.25 * wireBandwidth + probeRate)
    case .down: return max(Self.minimumRate, 0.75 * wireBandwidth)
    case .cruise, .probeRoundTrip: return max(Self.minimumRate, wireBandwidth)
    case .compete:
      let even = (rival?.bytes ?? 0) * 1e9 / Double(roundTrip.smoothed)
      return max(Self.minimumRate, Self.competingGain * even)
    }
  }

  /// Nothing was sent calmly yet: while nothing queues, loss is the path's.
  private var startupBandwidth: Double {
    let loss = queue <= target ? min(startLoss.value, Self.maximumLoss) : 0
    return bandwidth / (1 - max(loss, randomLoss))
  }

  /// A flow with a small share looks for more than its share of more.
  private var probeRate: Double {
    Double(Self.probePackets * packetSize) * 1e9 / Double(max(roundTrip.smoothed, 1_000_000))
  }

  /// Whether what leaves now cannot be lost by its own doing.
  var isCalm: Bool { phase == .down }

  // MARK: Events

  /// A packet was acknowledged or lost.
  mutating func noteFate(isLost: Bool, isCalm: Bool) {
    if isCalm { calmLoss.add(isLost: isLost) }
    if phase == .startup { startLoss.add(isLost: isLost) }
    pastLoss.add(isLost: isLost)
    heardOfRound += 1
    if isLost { lostOfRound += 1 }
  }

  mutating func takeBackLoss(isCalm: Bool) {
    if isCalm { calmLoss.takeBack() }
    if phase == .startup { startLoss.takeBack() }
    pastLoss.takeBack()
    lostOfRound = max(0, lostOfRound - 1)
  }

  mutating func handle(_ report: Report) {
    if report.acknowledged > 0, isStalled { recover(at: report.now) }
    if let sample = report.sample { note(sample, report) }
    if let latest = report.roundTrip {
      leastOfRound = min(leastOfRound, latest)
      mostOfRound = max(mostOfRound, latest)
      noteFresh(latest)
      sumOfRound += latest
      samplesOfRound += 1
    }
    step(report)
    isRoundStart = false
    refresh()
  }

  private mutating func note(_ sample: DeliveryRate.Sample, _ report: Report) {
    if sample.priorDelivered >= roundEnd {
      roundEnd = report.delivered
      rounds += 1
      isRoundStart = true
      beginRound()
    }
    bestOfRound = max(bestOfRound, sample.rate)
    if !sample.isAppLimited || sample.rate > bandwidth {
      bestOfCycle = max(bestOfCycle, sample.rate)
    }
  }

  private mutating func beginRound() {
    if phase == .cruise || rounds <= Self.firstRounds, samplesOfRound >= 4 {
      let excess = sumOfRound / Int64(samplesOfRound) - leastOfRound
      if rounds <= Self.firstRounds {
        // A queue that others left empties meanwhile: the quietest round counts.
        jitter = jitter == 0 ? excess : min(jitter, excess)
      } else if queue <= target {
        jitter += (excess - jitter) / 4
      }
    }
    (leastOfLastRound, leastOfRound) = (leastOfRound, .max)
    (bestOfLastRound, bestOfRound) = (bestOfRound, 0)
    (sumOfRound, samplesOfRound) = (0, 0)
    (mostOfLastRound, mostOfRound) = (mostOfRound, 0)
    let expected = Double(heardOfRound) * (calmLoss.weight < 32 ? pastLoss.value : randomLoss)
    let longest = max(mostOfLastRound - roundTrip.minimum, 0)
    longestQueue = max(longest, longestQueue - longestQueue / 64)
    // A queue that overflows is long; chance does not ask.
    hasExcessLoss =
      Double(lostOfRound) > expected + 3 * expected.squareRoot() + 4
      && longest >= longestQueue / 2
    (heardOfRound, lostOfRound) = (0, 0)
  }

  /// The least of each few round trips: within a round trip, a queue that begins shows in it.
  private mutating func noteFresh(_ latest: Int64) {
    leastOfFew = min(leastOfFew, latest)
    few += 1
    guard few >= Self.enoughSamples else { return }
    freshQueue = leastOfFew - roundTrip.minimum
    (leastOfFew, few) = (.max, 0)
  }

  /// No probe was answered: next to nothing leaves until an answer comes.
  mutating func stall() {
    isStalled = true
    refresh()
  }

  private mutating func recover(at now: Int64) {
    isStalled = false
    let half = bandwidth / 2
    (bestOfCycle, bestBefore) = (half, half)
    enterStartup(at: now)
  }
}
