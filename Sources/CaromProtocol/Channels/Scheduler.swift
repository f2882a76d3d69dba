/// Whose turn it is: queues one after the other, and within a priority by weight (deficit round robin,
/// Shreedhar and Varghese 1995). A lane that was idle comes before those that wait (as new flows
/// do in RFC 8290 §4.2), so that a small message does not wait for bulk of its own priority.
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
    /// Bytes that it may send before the next lane of its priority.
    var deficit = 0
    /// The round of its priority in which the deficit was given.
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

  private struct PriorityQueue: Sendable {
    var fresh = Line()
    var waiting = Line()
    var round: UInt64 = 1

    var isEmpty: Bool { fresh.isEmpty && waiting.isEmpty }
  }

  private var shares: [Share] = []
  private var queues = InlineArray<8, PriorityQueue>(repeating: PriorityQueue())
  /// The queues with lanes, as bits.
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
    let priority = Int(shares[lane].plan.priority)
    queues[priority].fresh.remove(UInt16(lane), &shares)
    queues[priority].waiting.remove(UInt16(lane), &shares)
    updateOccupied(priority)
  }

  @inline(__always) private mutating func updateOccupied(_ priority: Int) {
    if queues[priority].isEmpty { occupied &= ~(1 << priority) } else { occupied |= 1 << priority }
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
    let priority = Int(shares[lane].plan.priority)
    if shares[lane].round != queues[priority].round {
      shares[lane].round = queues[priority].round
      shares[lane].deficit = shares[lane].quantum
    }
    if shares[lane].deficit > 0 {
      queues[priority].fresh.append(UInt16(lane), &shares)
    } else {
      queues[priority].waiting.append(UInt16(lane), &shares)
    }
    occupied |= 1 << priority
  }

  /// The lane whose turn it is; those that may not send now are passed over.
  mutating func next(includeBulk: Bool, includeLatest: Bool) -> Int? {
    while occupied != 0 {
      let priority = occupied.trailingZeroBitCount
      let isFresh = !queues[priority].fresh.isEmpty
      let lane = Int(isFresh ? queues[priority].fresh.head : queues[priority].waiting.head)
      let readiness = shares[lane].readiness
      if readiness == .idle {
        pop(priority)
        shares[lane].isScheduled = false
      } else if readiness == .bulk && !includeBulk || !shares[lane].isReliable && !includeLatest {
        passOver(lane)
      } else if shares[lane].deficit > 0 {
        return lane
      } else {
        replenish(lane, priority, isFresh)
      }
    }
    return nil
  }

  private mutating func pop(_ priority: Int) {
    if queues[priority].fresh.popFirst(&shares) == nil {
      _ = queues[priority].waiting.popFirst(&shares)
    }
    updateOccupied(priority)
  }

  /// A lane that has used up its share goes behind the others and gets the next.
  private mutating func replenish(_ lane: Int, _ priority: Int, _ isFresh: Bool) {
    let isAlone =
      isFresh
      ? queues[priority].fresh.isSingle && queues[priority].waiting.isEmpty
      : queues[priority].waiting.isSingle
    pop(priority)
    queues[priority].waiting.append(UInt16(lane), &shares)
    occupied |= 1 << priority
    if isFresh, !isAlone { return }
    queues[priority].round &+= 1
    shares[lane].round = queues[priority].round
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
    pop(Int(shares[lane].plan.priority))
    passedOver.prepend(UInt16(lane), &shares)
  }

  /// Puts the lanes that were passed over back to the front, in their order.
  mutating func restore() {
    while let lane = passedOver.popFirst(&shares) {
      let priority = Int(shares[Int(lane)].plan.priority)
      if shares[Int(lane)].deficit > 0 {
        queues[priority].fresh.prepend(lane, &shares)
      } else {
        queues[priority].waiting.prepend(lane, &shares)
      }
      occupied |= 1 << priority
    }
  }
}
