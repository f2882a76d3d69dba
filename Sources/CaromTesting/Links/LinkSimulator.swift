import CaromCore

/// The simulation of one direction of a link between two machines: its conditions, queue and random
/// number generator.
struct LinkSimulator: Sendable {
  /// The result of adding a datagram to the link's queue.
  enum Admission {
    case departs(Instant)
    case dropped(DropReason)
  }

  let from: Int
  let to: Int
  /// The number of the link in the other direction, or nil if that link does not exist yet.
  var reverse: Int?
  /// The conditions of the link.
  var shared: SharedConditions
  /// Whether the link has its own conditions instead of the network's.
  var hasOwnConditions = false
  var counters = LinkCounters()
  var history: QueueHistory?
  /// The port mappings of the NAT in front of the sender.
  var natMapping = NATMapping()
  private(set) var queue = LinkQueue()
  private var generator: SeededGenerator
  private var isInBurst = false
  /// The latest arrival time so far. With jitter, no later datagram arrives before this time unless
  /// it is reordered.
  private var lastArrival = Instant.zero

  /// Creates a link with its own random number generator, so that traffic on one link does not
  /// change the behavior of another.
  init(from: Int, to: Int, conditions: SharedConditions, seed: UInt64) {
    self.from = from
    self.to = to
    shared = conditions
    var root = SeededGenerator(seed: seed ^ (UInt64(from) << 32 | UInt64(to)))
    generator = root.split()
  }

  var conditions: LinkConditions { _read { yield shared.value } }

  // MARK: Datagrams

  /// Drops a datagram that exceeds the MTU or the limit of the queue, and adds any other datagram
  /// to the queue. Returns the reason for the drop, or the time at which the datagram leaves the
  /// queue.
  mutating func admit(payload: Int, length: Int, isV6: Bool, at now: Instant) -> Admission {
    if let mtu = conditions.mtu,
      WireLength.packet(payload: payload, isV6: isV6) > mtu.bytes(at: now, isV6: isV6)
    {
      return .dropped(.tooLong)
    }
    guard let rate = conditions.rate else { return .departs(now) }
    guard queue.hasRoom(for: length, limit: conditions.queue, rate: rate, at: now) else {
      return .dropped(.queue)
    }
    return .departs(enqueue(length, rate: rate, at: now))
  }

  private mutating func enqueue(_ length: Int, rate: Int, at now: Instant) -> Instant {
    let departure = queue.append(length, rate: rate, at: now)
    let waiting = queue.length(at: now, rate: rate)
    counters.longestQueue = max(counters.longestQueue, waiting)
    history?.record(waiting, at: now)
    return departure
  }

  /// Decides at random whether a datagram is duplicated. Returns the delay of the copy, or nil if
  /// there is no copy.
  mutating func drawDuplication() -> Duration? {
    guard generator.chance(conditions.duplication) else { return nil }
    guard conditions.duplicationDelay > .zero else { return .zero }
    return generator.duration(in: .zero...conditions.duplicationDelay)
  }

  /// Decides at random whether a copy of a datagram is lost. Returns the reason for the loss, or
  /// nil if the copy is not lost.
  mutating func drawLoss(payload: Int, isV6: Bool) -> DropReason? {
    let fragments =
      conditions.mtu == nil ? WireLength.fragments(payload: payload, isV6: isV6) : 1
    for _ in 0..<fragments {
      if let model = conditions.burstLoss {
        let probability = isInBurst ? model.endProbability : model.startProbability
        if generator.chance(probability) { isInBurst.toggle() }
        if isInBurst { return .burst }
      }
      if generator.chance(conditions.loss) { return .loss }
    }
    return nil
  }

  /// Decides at random whether a payload is corrupted, and if so changes one to four of its bytes.
  /// Returns whether it was corrupted.
  mutating func corrupt(_ payload: inout [UInt8]) -> Bool {
    guard generator.chance(conditions.corruption), !payload.isEmpty else { return false }
    for _ in 0...Int(generator.next() & 3) {
      let index = Int.random(in: 0..<payload.count, using: &generator)
      payload[index] ^= UInt8.random(in: 1...255, using: &generator)
    }
    return true
  }

  /// Returns the random arrival time of a copy that left the queue at `departure`, and whether
  /// `Reordering` delays the copy.
  mutating func drawArrival(from departure: Instant) -> (time: Instant, isReordered: Bool) {
    let delay = drawDelay()
    if let reordering = conditions.reordering, generator.chance(reordering.probability) {
      let late = delay + reordering.delay.wholeNanoseconds
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

  /// The maximum number of times that one chunk is lost.
  private static let maximumLosses = 6

  /// Sends a chunk of `length` bytes of a stream, and returns its arrival time, which includes the
  /// delays of retransmissions.
  mutating func sendChunk(of length: Int, at now: Instant) -> Instant {
    counters.streamBytesSent += length
    let departure = conditions.rate.map { enqueue(length, rate: $0, at: now) } ?? now
    let burstLoss = conditions.burstLoss?.loss ?? 0
    let loss = 1 - (1 - conditions.loss) * (1 - burstLoss)
    var losses: Int64 = 0
    while losses < Self.maximumLosses, generator.chance(loss) { losses += 1 }
    let pause = conditions.retransmission.wholeNanoseconds * ((1 << losses) - 1)
    return departure.advanced(byNanoseconds: drawDelay() + pause)
  }

  /// Returns the earliest time at which a stream may send its next chunk. Streams wait while the
  /// queue is more than half full, and during an outage.
  func nextSendTime(at now: Instant) -> Instant {
    let outageEnd = conditions.outage?.end(at: now) ?? now
    guard let rate = conditions.rate else { return outageEnd }
    return max(outageEnd, queue.halfEmptyAt(limit: conditions.queue, rate: rate))
  }

  /// Returns a random length for the next chunk of a stream, in bytes.
  mutating func drawChunkLength() -> Int {
    Int.random(in: conditions.chunkLength, using: &generator)
  }

  /// Decides at random whether a chunk of a stream is delivered together with the chunk before it.
  mutating func drawCoalescing() -> Bool { generator.chance(conditions.coalescing) }
}
