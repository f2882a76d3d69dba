import Testing

@testable import CaromProtocol

/// The order in which lanes send: deficit round robin with a quantum of 1,500 bytes (Shreedhar and
/// Varghese 1995), by priority.
@Suite struct SchedulerTests {
  /// A scheduler and the lanes that it schedules. Which messages the lanes have is not looked at.
  private struct Scheduled {
    var scheduler = Scheduler()
    var lanes: [SendLane] = []

    mutating func add(_ plan: ChannelPlan, isReliable: Bool) {
      let delivery: Delivery = isReliable ? .reliableOrdered : .unreliable
      lanes.append(
        SendLane(
          channel: UInt8(lanes.count), delivery: delivery, channelIndex: lanes.count, plan: plan))
    }

    mutating func set(_ readiness: Scheduler.Readiness, of lane: Int) {
      let change = lanes[lane].share.set(readiness)
      scheduler.record(change, of: lane, in: &lanes)
    }

    mutating func set(_ plan: ChannelPlan, of lane: Int) {
      scheduler.set(plan, of: lane, in: &lanes)
    }

    mutating func next(includeBulk: Bool = true, includeLatest: Bool = true) -> Int? {
      scheduler.next(includeBulk: includeBulk, includeLatest: includeLatest, in: &lanes)
    }

    mutating func skip(_ lane: Int) { scheduler.skip(lane, in: &lanes) }

    mutating func restoreSkipped() { scheduler.restoreSkipped(in: &lanes) }
  }

  /// A scheduler whose lanes have the given plans and may all send small messages.
  private func makeScheduler(_ plans: ChannelPlan...) -> Scheduled {
    var scheduler = Scheduled()
    for (lane, plan) in plans.enumerated() {
      scheduler.add(plan, isReliable: true)
      scheduler.set(.small, of: lane)
    }
    return scheduler
  }

  /// Lets lanes send frames of `bytes` bytes in one packet, and returns the lanes in order.
  private func serve(
    _ scheduler: inout Scheduled, frames: Int, bytes: Int = 500, includeBulk: Bool = true,
    includeLatest: Bool = true
  ) -> [Int] {
    var lanes: [Int] = []
    while lanes.count < frames,
      let lane = scheduler.next(includeBulk: includeBulk, includeLatest: includeLatest)
    {
      repeat {
        lanes.append(lane)
      } while scheduler.lanes[lane].share.charge(bytes) && lanes.count < frames
    }
    scheduler.restoreSkipped()
    return lanes
  }

  @Test func `lanes of one priority take turns of 1,500 bytes for each unit of weight`() {
    var even = makeScheduler(ChannelPlan(), ChannelPlan())
    #expect(serve(&even, frames: 12) == [0, 0, 0, 1, 1, 1, 0, 0, 0, 1, 1, 1])
    var weighted = makeScheduler(ChannelPlan(weight: 2), ChannelPlan())
    let turn = [0, 0, 0, 0, 0, 0, 1, 1, 1]
    #expect(serve(&weighted, frames: 18) == turn + turn)
  }

  @Test func `a lane that exceeds its quantum has less in its next turn`() {
    var scheduler = makeScheduler(ChannelPlan(), ChannelPlan())
    #expect(serve(&scheduler, frames: 10, bytes: 1_000) == [0, 0, 1, 1, 0, 1, 0, 0, 1, 1])
  }

  @Test func `a turn continues in the next packet`() {
    var scheduler = makeScheduler(ChannelPlan(), ChannelPlan())
    let packets = (0..<6).map { _ in serve(&scheduler, frames: 1) }
    #expect(packets == [[0], [0], [0], [1], [1], [1]])
  }

  @Test func `a lane that is alone does not have to pay for what it sent before`() {
    var scheduler = makeScheduler(ChannelPlan())
    scheduler.add(ChannelPlan(), isReliable: true)
    #expect(serve(&scheduler, frames: 9, bytes: 1_400).count == 9)
    scheduler.set(.small, of: 1)
    let lanes = serve(&scheduler, frames: 60)
    #expect((28...32).contains(lanes.count { $0 == 0 }))
  }

  @Test func `a lower priority waits for a higher one`() {
    var scheduler = makeScheduler(
      ChannelPlan(priority: 7), ChannelPlan(priority: 0), ChannelPlan(priority: 4))
    #expect(serve(&scheduler, frames: 4) == [1, 1, 1, 1])
    scheduler.set(.idle, of: 1)
    #expect(serve(&scheduler, frames: 4) == [2, 2, 2, 2])
    scheduler.set(.idle, of: 2)
    #expect(serve(&scheduler, frames: 4) == [0, 0, 0, 0])
    scheduler.set(.idle, of: 0)
    #expect(serve(&scheduler, frames: 4) == [] && !scheduler.scheduler.hasAny)
  }

  @Test func `a lane moves to its new priority at once`() {
    var scheduler = makeScheduler(ChannelPlan(), ChannelPlan(), ChannelPlan())
    scheduler.set(ChannelPlan(priority: 1), of: 2)
    #expect(serve(&scheduler, frames: 2) == [2, 2])
    scheduler.set(ChannelPlan(priority: 5), of: 2)
    #expect(serve(&scheduler, frames: 4) == [0, 0, 0, 1])
    scheduler.set(.idle, of: 0)
    scheduler.set(.idle, of: 1)
    #expect(serve(&scheduler, frames: 1) == [2])
    // The new weight counts from the lane's next turn.
    var weighted = makeScheduler(ChannelPlan(), ChannelPlan())
    weighted.set(ChannelPlan(weight: 2), of: 1)
    #expect(serve(&weighted, frames: 15).suffix(9) == [0, 0, 0, 1, 1, 1, 1, 1, 1])
  }

  /// RFC 8290, section 4.2.
  @Test func `a lane that was idle precedes those that wait`() {
    var scheduler = makeScheduler(ChannelPlan(), ChannelPlan(), ChannelPlan())
    scheduler.set(.idle, of: 2)
    #expect(serve(&scheduler, frames: 7) == [0, 0, 0, 1, 1, 1, 0])
    scheduler.set(.small, of: 2)
    #expect(serve(&scheduler, frames: 2) == [2, 2])
    // A lane that is idle again in the same round continues with the rest of its quantum.
    scheduler.set(.idle, of: 2)
    #expect(serve(&scheduler, frames: 1) == [0])
    scheduler.set(.small, of: 2)
    #expect(serve(&scheduler, frames: 3) == [2, 0, 1])
  }

  @Test func `a skipped lane is served in the next packet, in its place`() {
    var scheduler = makeScheduler(ChannelPlan(), ChannelPlan(), ChannelPlan(), ChannelPlan())
    for lane in 0..<3 {
      #expect(scheduler.next() == lane)
      scheduler.skip(lane)
    }
    #expect(scheduler.next() == 3)
    scheduler.restoreSkipped()
    #expect(serve(&scheduler, frames: 12) == [0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3])
  }

  @Test func `bulk and unreliable lanes are skipped if the packet excludes them`() {
    var scheduler = Scheduled()
    for lane in 0..<4 {
      scheduler.add(ChannelPlan(), isReliable: lane < 2)
      scheduler.set(lane % 2 == 0 ? .bulk : .small, of: lane)
    }
    let rows: [(Bool, Bool, [Int])] = [
      (true, true, [0, 1, 2, 3]), (false, true, [1, 3]), (true, false, [0, 1]), (false, false, [1]),
    ]
    for (includeBulk, includeLatest, lanes) in rows {
      var packet = scheduler
      let served = serve(
        &packet, frames: 12, includeBulk: includeBulk, includeLatest: includeLatest)
      #expect(Set(served).sorted() == lanes)
      #expect(serve(&packet, frames: 12).count == 12, "skipped lanes are not lost")
    }
  }

  @Test func `small and bulk lanes are counted`() {
    var scheduler = Scheduled()
    for _ in 0..<2 { scheduler.add(ChannelPlan(), isReliable: true) }
    let rows: [(Scheduler.Readiness, Int, Bool, Bool)] = [
      (.idle, 0, false, false), (.bulk, 0, false, true), (.small, 0, true, true),
      (.small, 0, true, true), (.small, 1, true, true), (.idle, 0, true, true),
      (.bulk, 1, false, true), (.bulk, 1, false, true), (.idle, 1, false, false),
      (.small, 0, true, true), (.idle, 0, false, false),
    ]
    for (readiness, lane, hasSmall, hasAny) in rows {
      scheduler.set(readiness, of: lane)
      #expect(scheduler.scheduler.hasSmall == hasSmall && scheduler.scheduler.hasAny == hasAny)
    }
  }
}
