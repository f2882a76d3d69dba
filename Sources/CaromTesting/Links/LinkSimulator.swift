import CaromCore

/// One direction between two machines: its conditions, its dice, and what they have to remember.
struct LinkSimulator: Sendable {
  /// What the link does with what came to it.
  enum Admission {
    case leaves(Instant)
    case dropped(DropReason)
  }

  let from: Int
  let to: Int
  /// The link in the other direction, if there is one yet.
  var reverse: Int?
  /// The conditions that hold.
  var shared: SharedConditions
  /// Whether they are its own, and not the network's.
  var hasOwn = false
  var counters = LinkCounters()
  var history: QueueHistory?
  /// What a translator in front of the sender remembers.
  var translation = NATMapping()
  private(set) var queue = LinkQueue()
  private var generator: SeededGenerator
  private var isInBurst = false
  /// Nothing that keeps the order arrives before it.
  private var lastArrival = Instant.zero

  /// Each link has dice of its own, so that traffic on one does not change another.
  init(from: Int, to: Int, conditions: SharedConditions, seed: UInt64) {
    self.from = from
    self.to = to
    shared = conditions
    var root = SeededGenerator(seed: seed ^ (UInt64(from) << 32 | UInt64(to)))
    generator = root.split()
  }

  var conditions: LinkConditions { _read { yield shared.value } }

  // MARK: Datagrams

  /// What comes before the way itself: its longest packet, and the queue.
  mutating func admit(payload: Int, length: Int, isV6: Bool, at now: Instant) -> Admission {
    if let mtu = conditions.mtu,
      WireLength.packet(payload: payload, isV6: isV6) > mtu.bytes(at: now, isV6: isV6)
    {
      return .dropped(.tooLong)
    }
    guard let rate = conditions.rate else { return .leaves(now) }
    guard queue.hasRoom(for: length, limit: conditions.queue, rate: rate, at: now) else {
      return .dropped(.queue)
    }
    return .leaves(enqueue(length, rate: rate, at: now))
  }

  private mutating func enqueue(_ length: Int, rate: Int, at now: Instant) -> Instant {
    let departure = queue.take(length, rate: rate, at: now)
    let waiting = queue.length(at: now, rate: rate)
    counters.longestQueue = max(counters.longestQueue, waiting)
    history?.note(waiting, at: now)
    return departure
  }

  /// How much later a second copy starts, if there is one.
  mutating func drawDoubling() -> Duration? {
    guard generator.chance(conditions.duplication) else { return nil }
    guard conditions.duplicationDelay > .zero else { return .zero }
    return generator.duration(in: .zero...conditions.duplicationDelay)
  }

  /// What takes a copy, if anything does.
  mutating func drawLoss(payload: Int, isV6: Bool) -> DropReason? {
    let fragments =
      conditions.mtu == nil ? WireLength.fragments(payload: payload, isV6: isV6) : 1
    for _ in 0..<fragments {
      if let bursts = conditions.bursts {
        if generator.chance(isInBurst ? bursts.ending : bursts.beginning) { isInBurst.toggle() }
        if isInBurst { return .burst }
      }
      if generator.chance(conditions.loss) { return .loss }
    }
    return nil
  }

  /// Changes one to four bytes, where chance wants it so.
  mutating func corrupt(_ payload: inout [UInt8]) -> Bool {
    guard generator.chance(conditions.corruption), !payload.isEmpty else { return false }
    for _ in 0...Int(generator.next() & 3) {
      let place = Int.random(in: 0..<payload.count, using: &generator)
      payload[place] ^= UInt8.random(in: 1...255, using: &generator)
    }
    return true
  }

  /// When a copy arrives that left the queue at `departure`, and whether others may overtake it.
  mutating func drawArrival(from departure: Instant) -> (time: Instant, isHeldBack: Bool) {
    let delay = drawDelay()
    if let reordering = conditions.reordering, generator.chance(reordering.share) {
      let late = delay + reordering.lateness.wholeNanoseconds
      return (departure.advanced(byNanoseconds: late), true)
    }
    let time = departure.advanced(byNanoseconds: delay)
    if conditions.jitter == .none { return (time, false) }
    lastArrival = max(lastArrival, time)
    return (lastArrival, false)
  }

  private mutating func drawDelay() -> Int64 {
    let low = conditions.delay.lowerBound.wholeNanoseconds
    let high = conditions.delay.upperBound.wholeNanoseconds
    let delay = low == high ? low : Int64.random(in: low...high, using: &generator)
    return delay + conditions.jitter.draw(using: &generator)
  }

  // MARK: Streams

  /// The most times that one piece is lost.
  private static let maximumLosses = 6

  /// When a piece of a stream arrives that leaves now; what its losses cost is in it.
  mutating func sendPiece(of length: Int, at now: Instant) -> Instant {
    counters.streamBytesSent += length
    let departure = conditions.rate.map { enqueue(length, rate: $0, at: now) } ?? now
    let bursts = conditions.bursts?.loss ?? 0
    let loss = 1 - (1 - conditions.loss) * (1 - bursts)
    var losses: Int64 = 0
    while losses < Self.maximumLosses, generator.chance(loss) { losses += 1 }
    let pause = conditions.retransmission.wholeNanoseconds * ((1 << losses) - 1)
    return departure.advanced(byNanoseconds: drawDelay() + pause)
  }

  /// When the next piece of a stream may leave: while half of the queue is full or the link is
  /// dark, a stream waits.
  func opening(at now: Instant) -> Instant {
    let lit = conditions.blackout?.end(at: now) ?? now
    guard let rate = conditions.rate else { return lit }
    return max(lit, queue.halfEmptyAt(limit: conditions.queue, rate: rate))
  }

  /// How long the next piece of a stream is.
  mutating func drawPieceLength() -> Int {
    Int.random(in: conditions.pieceLength, using: &generator)
  }

  /// Whether a piece of a stream joins the one before it.
  mutating func drawJoining() -> Bool { generator.chance(conditions.joining) }
}
