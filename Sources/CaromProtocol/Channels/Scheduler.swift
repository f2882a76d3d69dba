/// Whose turn it is: levels one after the other, and within a level by weight (deficit round robin,
/// Shreedhar and Varghese 1995). A lane that was idle comes before those that wait (as new flows
/// do in RFC 8290 §4.2), so that a small message does not wait for bulk of its own level.
struct Scheduler: Sendable {
  /// What a lane could send at once.
  enum Readiness: UInt8, Sendable {
    case idle
    /// Only messages that are bulk.
    case bulk
    case small
  }

  private struct Share: Sendable {
    var plan: ChannelPlan
    let isReliable: Bool
    var readiness = Readiness.idle
    var isScheduled = false
    /// The lane behind it in the list that it is in.
    var next = Line.end
    /// Bytes that it may send before the next lane of its level.
    var deficit = 0
    /// The round of its level in which the deficit was given.
    var round: UInt64 = 0

    var quantum: Int { ChannelLimits.quantum * Int(plan.weight) }
  }

  /// Lanes one behind the other, through their shares: a packet touches few places in memory.
  private struct Line: Sendable {
    static let end = UInt16.max

    var head = end
    var tail = end

    var isEmpty: Bool { head == Self.end }
    var isSingle: Bool { head == tail && head != Self.end }

    mutating func append(_ lane: UInt16, _ shares: inout [Share]) {
      shares[Int(lane)].next = Self.end
      if isEmpty { head = lane } else { shares[Int(tail)].next = lane }
      tail = lane
    }

    mutating func prepend(_ lane: UInt16, _ shares: inout [Share]) {
      shares[Int(lane)].next = head
      if isEmpty { tail = lane }
      head = lane
    }

    mutating func popFirst(_ shares: inout [Share]) -> UInt16? {
      guard head != Self.end else { return nil }
      let lane = head
      head = shares[Int(lane)].next
      if head == Self.end { tail = Self.end }
      return lane
    }

    mutating func remove(_ lane: UInt16, _ shares: inout [Share]) {
      var rest = self
      self = Line()
      while let each = rest.popFirst(&shares) {
        if each != lane { append(each, &shares) }
      }
    }
  }

  private struct Level: Sendable {
    var fresh = Line()
    var waiting = Line()
    var round: UInt64 = 1

    var isEmpty: Bool { fresh.isEmpty && waiting.isEmpty }
  }

  private var shares: [Share] = []
  private var levels = InlineArray<8, Level>(repeating: Level())
  /// The levels with lanes, as bits.
  private var occupied = 0
  /// The last one comes first.
  private var passedOver = Line()
  private var smallCount = 0
  private var readyCount = 0

  /// Whether a lane has a message to send that is not bulk.
  var hasSmall: Bool { smallCount > 0 }
  /// Whether a lane has anything to send.
  var hasAny: Bool { readyCount > 0 }

  /// Adds the lane with the next index.
  mutating func add(_ plan: ChannelPlan, isReliable: Bool) {
    shares.append(Share(plan: plan, isReliable: isReliable))
  }

  /// Gives a lane another share; it counts from when the lane is idle next.
  mutating func set(_ plan: ChannelPlan, of lane: Int) {
    guard shares[lane].isScheduled else {
      shares[lane].plan = plan
      return
    }
    remove(lane)
    shares[lane].plan = plan
    schedule(lane)
  }

  private mutating func remove(_ lane: Int) {
    let level = Int(shares[lane].plan.level)
    levels[level].fresh.remove(UInt16(lane), &shares)
    levels[level].waiting.remove(UInt16(lane), &shares)
    noteLevel(level)
  }

  @inline(__always) private mutating func noteLevel(_ level: Int) {
    if levels[level].isEmpty { occupied &= ~(1 << level) } else { occupied |= 1 << level }
  }

  /// Says what a lane could send.
  mutating func set(_ readiness: Readiness, of lane: Int) {
    let before = shares[lane].readiness
    guard readiness != before else { return }
    shares[lane].readiness = readiness
    if before == .small { smallCount -= 1 }
    if readiness == .small { smallCount += 1 }
    if before == .idle { readyCount += 1 }
    if readiness == .idle { readyCount -= 1 }
    if readiness != .idle, !shares[lane].isScheduled { schedule(lane) }
  }

  private mutating func schedule(_ lane: Int) {
    shares[lane].isScheduled = true
    let level = Int(shares[lane].plan.level)
    if shares[lane].round != levels[level].round {
      shares[lane].round = levels[level].round
      shares[lane].deficit = shares[lane].quantum
    }
    if shares[lane].deficit > 0 {
      levels[level].fresh.append(UInt16(lane), &shares)
    } else {
      levels[level].waiting.append(UInt16(lane), &shares)
    }
    occupied |= 1 << level
  }

  /// The lane whose turn it is; those that may not send now are passed over.
  mutating func next(includeBulk: Bool, includeLatest: Bool) -> Int? {
    while occupied != 0 {
      let level = occupied.trailingZeroBitCount
      let isFresh = !levels[level].fresh.isEmpty
      let lane = Int(isFresh ? levels[level].fresh.head : levels[level].waiting.head)
      let readiness = shares[lane].readiness
      if readiness == .idle {
        pop(level)
        shares[lane].isScheduled = false
      } else if readiness == .bulk && !includeBulk || !shares[lane].isReliable && !includeLatest {
        passOver(lane)
      } else if shares[lane].deficit > 0 {
        return lane
      } else {
        replenish(lane, level, isFresh)
      }
    }
    return nil
  }

  private mutating func pop(_ level: Int) {
    if levels[level].fresh.popFirst(&shares) == nil {
      _ = levels[level].waiting.popFirst(&shares)
    }
    noteLevel(level)
  }

  /// A lane that has used up its share goes behind the others and gets the next.
  private mutating func replenish(_ lane: Int, _ level: Int, _ isFresh: Bool) {
    let isAlone =
      isFresh
      ? levels[level].fresh.isSingle && levels[level].waiting.isEmpty
      : levels[level].waiting.isSingle
    pop(level)
    levels[level].waiting.append(UInt16(lane), &shares)
    occupied |= 1 << level
    if isFresh, !isAlone { return }
    levels[level].round &+= 1
    shares[lane].round = levels[level].round
    shares[lane].deficit =
      isAlone ? shares[lane].quantum : shares[lane].deficit + shares[lane].quantum
  }

  /// Counts what the lane whose turn it is has sent; whether its turn goes on.
  mutating func charge(_ lane: Int, _ bytes: Int) -> Bool {
    shares[lane].deficit -= bytes
    return shares[lane].deficit > 0
  }

  /// Leaves the lane whose turn it is out of this packet.
  mutating func passOver(_ lane: Int) {
    pop(Int(shares[lane].plan.level))
    passedOver.prepend(UInt16(lane), &shares)
  }

  /// Puts the lanes that were passed over back to the front, in their order.
  mutating func restore() {
    while let lane = passedOver.popFirst(&shares) {
      let level = Int(shares[Int(lane)].plan.level)
      if shares[Int(lane)].deficit > 0 {
        levels[level].fresh.prepend(lane, &shares)
      } else {
        levels[level].waiting.prepend(lane, &shares)
      }
      occupied |= 1 << level
    }
  }
}
