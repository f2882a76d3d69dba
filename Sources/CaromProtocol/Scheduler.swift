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
    /// Bytes that it may send before the next lane of its level.
    var deficit = 0
    /// The round of its level in which the deficit was given.
    var round: UInt64 = 0

    var quantum: Int { ChannelLimits.quantum * Int(plan.weight) }
  }

  private struct Level: Sendable {
    var fresh = Ring<UInt16>()
    var waiting = Ring<UInt16>()
    var round: UInt64 = 1
  }

  private var shares: [Share] = []
  private var levels = [Level](repeating: Level(), count: ChannelLimits.levels)
  private var passedOver = Ring<UInt16>()
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
    for _ in 0..<levels[level].fresh.count {
      if let each = levels[level].fresh.popFirst(), each != lane {
        levels[level].fresh.append(each)
      }
    }
    for _ in 0..<levels[level].waiting.count {
      if let each = levels[level].waiting.popFirst(), each != lane {
        levels[level].waiting.append(each)
      }
    }
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
      levels[level].fresh.append(UInt16(lane))
    } else {
      levels[level].waiting.append(UInt16(lane))
    }
  }

  /// The lane whose turn it is; those that may not send now are passed over.
  mutating func next(includeBulk: Bool, includeLatest: Bool) -> Int? {
    for level in levels.indices {
      while let lane = levels[level].fresh.first ?? levels[level].waiting.first {
        let isFresh = !levels[level].fresh.isEmpty
        let share = shares[Int(lane)]
        if share.readiness == .idle {
          pop(level, isFresh)
          shares[Int(lane)].isScheduled = false
        } else if share.readiness == .bulk && !includeBulk || !share.isReliable && !includeLatest {
          passOver(Int(lane))
        } else if share.deficit > 0 {
          return Int(lane)
        } else {
          replenish(Int(lane), level, isFresh)
        }
      }
    }
    return nil
  }

  private mutating func pop(_ level: Int, _ isFresh: Bool) {
    if isFresh { levels[level].fresh.popFirst() } else { levels[level].waiting.popFirst() }
  }

  /// A lane that has used up its share goes behind the others and gets the next.
  private mutating func replenish(_ lane: Int, _ level: Int, _ isFresh: Bool) {
    let isAlone = levels[level].fresh.count + levels[level].waiting.count == 1
    pop(level, isFresh)
    levels[level].waiting.append(UInt16(lane))
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
    let level = Int(shares[lane].plan.level)
    pop(level, !levels[level].fresh.isEmpty)
    passedOver.append(UInt16(lane))
  }

  /// Puts the lanes that were passed over back to the front, in their order.
  mutating func restore() {
    while !passedOver.isEmpty {
      let lane = Int(passedOver[passedOver.count - 1])
      passedOver.removeLast()
      let level = Int(shares[lane].plan.level)
      if shares[lane].deficit > 0 {
        levels[level].fresh.prepend(UInt16(lane))
      } else {
        levels[level].waiting.prepend(UInt16(lane))
      }
    }
  }
}
