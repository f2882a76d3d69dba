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

  /// A change of what a lane can send.
  struct Change: Sendable {
    let before: Readiness
    let after: Readiness
  }

  /// The scheduling state of one lane. The lane stores it, beside what else a packet needs of the
  /// lane.
  struct Share: Sendable {
    fileprivate var plan: ChannelPlan
    private(set) var readiness = Readiness.idle
    fileprivate var isScheduled = false
    /// The lane that follows this one in its `LaneList`.
    fileprivate var next = LaneList.end
    /// The round of the priority queue in which `deficit` was last replenished. Rounds wrap around.
    fileprivate var round: UInt32 = 0
    /// The number of bytes that the lane may still send before the next lane of its priority has
    /// its turn.
    fileprivate var deficit: Int32 = 0

    init(_ plan: ChannelPlan) { self.plan = plan }

    fileprivate var quantum: Int32 { Int32(ChannelLimits.quantum * Int(plan.weight)) }

    /// Sets the kind of message that the lane can send now. Pass the change to the scheduler.
    @inline(__always) mutating func set(_ readiness: Readiness) -> Change {
      let before = self.readiness
      self.readiness = readiness
      return Change(before: before, after: readiness)
    }

    /// Counts bytes that the lane, whose turn it is, has sent. Returns whether its turn continues.
    @inline(__always) mutating func charge(_ bytes: Int) -> Bool {
      deficit -= Int32(bytes)
      return deficit > 0
    }

    /// Schedules the lane in a round of its priority's queue. Returns whether its deficit is
    /// positive.
    @inline(__always) fileprivate mutating func schedule(in round: UInt32) -> Bool {
      isScheduled = true
      next = LaneList.end
      if self.round != round {
        self.round = round
        deficit = quantum
      }
      return deficit > 0
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

    mutating func append(_ lane: UInt16, _ lanes: inout [SendLane]) {
      lanes[Int(lane)].share.next = Self.end
      link(lane, &lanes)
    }

    /// Appends a lane whose `next` is `end`.
    @inline(__always) mutating func link(_ lane: UInt16, _ lanes: inout [SendLane]) {
      if isEmpty { head = lane } else { lanes[Int(tail)].share.next = lane }
      tail = lane
    }

    mutating func prepend(_ lane: UInt16, _ lanes: inout [SendLane]) {
      lanes[Int(lane)].share.next = head
      if isEmpty { tail = lane }
      head = lane
    }

    mutating func popFirst(_ lanes: borrowing [SendLane]) -> UInt16? {
      guard head != Self.end else { return nil }
      let lane = head
      head = lanes[Int(lane)].share.next
      if head == Self.end { tail = Self.end }
      return lane
    }

    mutating func remove(_ lane: UInt16, _ lanes: inout [SendLane]) {
      var rest = self
      self = LaneList()
      while let each = rest.popFirst(lanes) {
        if each != lane { append(each, &lanes) }
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

  /// Changes the priority and weight of a lane. A lane that is scheduled moves to the queue of its
  /// new priority.
  mutating func set(_ plan: ChannelPlan, of lane: Int, in lanes: inout [SendLane]) {
    guard lanes[lane].share.isScheduled else {
      lanes[lane].share.plan = plan
      return
    }
    remove(lane, &lanes)
    lanes[lane].share.plan = plan
    schedule(lane, &lanes)
  }

  private mutating func remove(_ lane: Int, _ lanes: inout [SendLane]) {
    let priority = Int(lanes[lane].share.plan.priority)
    queues[priority].fresh.remove(UInt16(lane), &lanes)
    queues[priority].waiting.remove(UInt16(lane), &lanes)
    updateOccupied(priority)
  }

  @inline(__always) private mutating func updateOccupied(_ priority: Int) {
    if queues[priority].isEmpty { occupied &= ~(1 << priority) } else { occupied |= 1 << priority }
  }

  /// Takes note of what a lane can send now, and schedules the lane if it was idle.
  mutating func record(_ change: Change, of lane: Int, in lanes: inout [SendLane]) {
    guard change.before != change.after else { return }
    if change.before == .small { smallCount &-= 1 }
    if change.after == .small { smallCount &+= 1 }
    if change.before == .idle { readyCount &+= 1 }
    if change.after == .idle { readyCount &-= 1 }
    if change.after != .idle, !lanes[lane].share.isScheduled { schedule(lane, &lanes) }
  }

  @inline(__always) private mutating func schedule(_ lane: Int, _ lanes: inout [SendLane]) {
    let priority = Int(lanes[lane].share.plan.priority)
    if lanes[lane].share.schedule(in: queues[priority].round) {
      queues[priority].fresh.link(UInt16(lane), &lanes)
    } else {
      queues[priority].waiting.link(UInt16(lane), &lanes)
    }
    occupied |= 1 << priority
  }

  /// Returns the lane whose turn it is, or `nil` if no lane may send in this packet. Skips lanes
  /// that have only bulk messages unless `includeBulk` is true, and unreliable lanes unless
  /// `includeLatest` is true.
  mutating func next(
    includeBulk: Bool, includeLatest: Bool, in lanes: inout [SendLane]
  ) -> Int? {
    while occupied != 0 {
      let priority = occupied.trailingZeroBitCount
      let isFresh = !queues[priority].fresh.isEmpty
      let lane = Int(isFresh ? queues[priority].fresh.head : queues[priority].waiting.head)
      let readiness = lanes[lane].share.readiness
      if readiness == .idle {
        retire(lane, &lanes)
      } else if readiness == .bulk && !includeBulk
        || !lanes[lane].delivery.isReliable && !includeLatest
      {
        skip(lane, in: &lanes)
      } else if lanes[lane].share.deficit > 0 {
        return lane
      } else {
        replenish(lane, priority, isFresh, &lanes)
      }
    }
    return nil
  }

  private mutating func pop(_ priority: Int, _ lanes: borrowing [SendLane]) {
    if queues[priority].fresh.popFirst(lanes) == nil {
      _ = queues[priority].waiting.popFirst(lanes)
    }
    updateOccupied(priority)
  }

  /// Removes the lane whose turn it is from its queue, because it is idle.
  private mutating func retire(_ lane: Int, _ lanes: inout [SendLane]) {
    pop(Int(lanes[lane].share.plan.priority), lanes)
    lanes[lane].share.isScheduled = false
  }

  /// Moves a lane to the end of its priority's queue once its deficit is used up, and adds a
  /// quantum to the deficit at the start of a new round. `isFresh` is true if the lane is at the
  /// front of `fresh`.
  private mutating func replenish(
    _ lane: Int, _ priority: Int, _ isFresh: Bool, _ lanes: inout [SendLane]
  ) {
    let isAlone =
      isFresh
      ? queues[priority].fresh.isSingle && queues[priority].waiting.isEmpty
      : queues[priority].waiting.isSingle
    pop(priority, lanes)
    queues[priority].waiting.append(UInt16(lane), &lanes)
    occupied |= 1 << priority
    if isFresh, !isAlone { return }
    queues[priority].round &+= 1
    lanes[lane].share.round = queues[priority].round
    let quantum = lanes[lane].share.quantum
    lanes[lane].share.deficit = isAlone ? quantum : lanes[lane].share.deficit + quantum
  }

  /// Takes note of what the lane whose turn it was can send after it has sent something. A lane
  /// that has become idle leaves its queue.
  mutating func finishTurn(of lane: Int, _ change: Change, in lanes: inout [SendLane]) {
    record(change, of: lane, in: &lanes)
    if change.after == .idle { retire(lane, &lanes) }
  }

  /// Excludes `lane`, whose turn it is, from the rest of the current packet.
  mutating func skip(_ lane: Int, in lanes: inout [SendLane]) {
    pop(Int(lanes[lane].share.plan.priority), lanes)
    skipped.prepend(UInt16(lane), &lanes)
  }

  /// Puts the skipped lanes back at the front of their queues, in their original order.
  mutating func restoreSkipped(in lanes: inout [SendLane]) {
    while let lane = skipped.popFirst(lanes) {
      let priority = Int(lanes[Int(lane)].share.plan.priority)
      if lanes[Int(lane)].share.deficit > 0 {
        queues[priority].fresh.prepend(lane, &lanes)
      } else {
        queues[priority].waiting.prepend(lane, &lanes)
      }
      occupied |= 1 << priority
    }
  }
}
