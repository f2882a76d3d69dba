/// Decides which lane sends next: lanes with a lower priority value first, and lanes of one
/// priority in proportion to their weights, by deficit round robin (Shreedhar and Varghese 1995). A
/// lane that was idle precedes the lanes that are already waiting, like a new flow in RFC 8290
/// §4.2, so that a small message does not wait for bulk messages of its own priority.
struct Scheduler: Sendable {
  /// The kind of message that a lane can send now.
  enum Readiness: UInt8, Sendable {
    case idle
    /// The lane can send only bulk messages.
    case bulk
    /// The lane can send a small message, or resend a lost message that is not fragmented.
    case small
  }

  /// The scheduling state of one lane.
  private struct Share: Sendable {
    var plan: ChannelPlan
    let isReliable: Bool
    var readiness = Readiness.idle
    var isScheduled = false
    /// The lane that follows this one in its `LaneList`.
    var next = LaneList.end
    /// The round of the priority queue in which `deficit` was last replenished. Rounds wrap around.
    var round: UInt32 = 0
    /// The number of bytes that the lane may still send before the next lane of its priority has
    /// its turn.
    var deficit: Int32 = 0

    var quantum: Int32 { Int32(ChannelLimits.quantum * Int(plan.weight)) }

    /// Schedules the lane in a round of its priority's queue. Returns whether its deficit is
    /// positive.
    @inline(__always) mutating func schedule(_ readiness: Readiness, in round: UInt32) -> Bool {
      self.readiness = readiness
      isScheduled = true
      next = LaneList.end
      if self.round != round {
        self.round = round
        deficit = quantum
      }
      return deficit > 0
    }

    /// Counts bytes that the lane has sent. Returns whether the lane is idle and therefore leaves
    /// its queue.
    @inline(__always) mutating func charge(_ bytes: Int) -> Bool {
      deficit -= Int32(bytes)
      guard readiness == .idle else { return false }
      isScheduled = false
      return true
    }
  }

  /// A linked list of lanes. The links are stored in `Share.next`, so that filling a packet
  /// accesses little memory.
  private struct LaneList: Sendable {
    static let end = UInt16.max

    var head = end
    var tail = end

    var isEmpty: Bool { head == Self.end }
    var isSingle: Bool { head == tail && head != Self.end }

    mutating func append(_ lane: UInt16, _ shares: inout [Share]) {
      shares[Int(lane)].next = Self.end
      link(lane, &shares)
    }

    /// Appends a lane whose `next` is `end`.
    @inline(__always) mutating func link(_ lane: UInt16, _ shares: inout [Share]) {
      if isEmpty { head = lane } else { shares[Int(tail)].next = lane }
      tail = lane
    }

    mutating func prepend(_ lane: UInt16, _ shares: inout [Share]) {
      shares[Int(lane)].next = head
      if isEmpty { tail = lane }
      head = lane
    }

    mutating func popFirst(_ shares: borrowing [Share]) -> UInt16? {
      guard head != Self.end else { return nil }
      let lane = head
      head = shares[Int(lane)].next
      if head == Self.end { tail = Self.end }
      return lane
    }

    mutating func remove(_ lane: UInt16, _ shares: inout [Share]) {
      var rest = self
      self = LaneList()
      while let each = rest.popFirst(shares) {
        if each != lane { append(each, &shares) }
      }
    }
  }

  /// The lanes of one priority that have something to send.
  private struct PriorityQueue: Sendable {
    /// The lanes that were idle and have a positive deficit. They are served first.
    var fresh = LaneList()
    /// The lanes that take turns once `fresh` is empty.
    var waiting = LaneList()
    var round: UInt32 = 1

    var isEmpty: Bool { fresh.isEmpty && waiting.isEmpty }
  }

  private var shares: [Share] = []
  /// The priorities whose queue is not empty, one bit each.
  private var occupied: UInt32 = 0
  /// The lanes that the current packet skips, most recently skipped lane first.
  private var skipped = LaneList()
  private var smallCount: UInt32 = 0
  private var readyCount: UInt32 = 0
  private var queues = InlineArray<8, PriorityQueue>(repeating: PriorityQueue())

  /// Whether any lane can send a small message.
  var hasSmall: Bool { smallCount > 0 }
  /// Whether any lane can send a message.
  var hasAny: Bool { readyCount > 0 }

  /// Adds a lane with reliable or unreliable delivery. Its index is the number of lanes added
  /// before it.
  mutating func add(_ plan: ChannelPlan, isReliable: Bool) {
    shares.append(Share(plan: plan, isReliable: isReliable))
  }

  /// Changes the priority and weight of a lane. A lane that is scheduled moves to the queue of its
  /// new priority.
  mutating func set(_ plan: ChannelPlan, of lane: Int) {
    guard shares[lane].isScheduled else {
      shares[lane].plan = plan
      return
    }
    remove(lane)
    shares[lane].plan = plan
    schedule(lane, shares[lane].readiness)
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

  /// Sets the kind of message that a lane can send now, and schedules the lane if it was idle.
  mutating func set(_ readiness: Readiness, of lane: Int) {
    let before = shares[lane].readiness
    guard readiness != before else { return }
    if before == .small { smallCount &-= 1 }
    if readiness == .small { smallCount &+= 1 }
    if before == .idle { readyCount &+= 1 }
    if readiness == .idle { readyCount &-= 1 }
    if readiness == .idle || shares[lane].isScheduled {
      shares[lane].readiness = readiness
    } else {
      schedule(lane, readiness)
    }
  }

  @inline(__always) private mutating func schedule(_ lane: Int, _ readiness: Readiness) {
    let priority = Int(shares[lane].plan.priority)
    if shares[lane].schedule(readiness, in: queues[priority].round) {
      queues[priority].fresh.link(UInt16(lane), &shares)
    } else {
      queues[priority].waiting.link(UInt16(lane), &shares)
    }
    occupied |= 1 << priority
  }

  /// Returns the lane whose turn it is, or `nil` if no lane may send in this packet. Skips lanes
  /// that have only bulk messages unless `includeBulk` is true, and unreliable lanes unless
  /// `includeLatest` is true.
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
        skip(lane)
      } else if shares[lane].deficit > 0 {
        return lane
      } else {
        replenish(lane, priority, isFresh)
      }
    }
    return nil
  }

  private mutating func pop(_ priority: Int) {
    if queues[priority].fresh.popFirst(shares) == nil {
      _ = queues[priority].waiting.popFirst(shares)
    }
    updateOccupied(priority)
  }

  /// Moves a lane to the end of its priority's queue once its deficit is used up, and adds a
  /// quantum to the deficit at the start of a new round. `isFresh` is true if the lane is at the
  /// front of `fresh`.
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

  /// Counts bytes that the lane, whose turn it is, has sent. Returns whether its turn continues. A
  /// lane that has become idle leaves its queue.
  mutating func charge(_ lane: Int, _ bytes: Int) -> Bool {
    if shares[lane].charge(bytes) { pop(Int(shares[lane].plan.priority)) }
    return shares[lane].deficit > 0
  }

  /// Excludes `lane`, whose turn it is, from the rest of the current packet.
  mutating func skip(_ lane: Int) {
    pop(Int(shares[lane].plan.priority))
    skipped.prepend(UInt16(lane), &shares)
  }

  /// Puts the skipped lanes back at the front of their queues, in their original order.
  mutating func restoreSkipped() {
    while let lane = skipped.popFirst(shares) {
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
