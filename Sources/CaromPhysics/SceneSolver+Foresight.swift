extension SceneSolver {
  /// Queues every first contact of the step.
  mutating func foresee() {
    for slot in bodies.indices { foreseeBarrier(slot) }
    guard usesGrid else {
      for slot in bodies.indices.dropLast() {
        for other in slot + 1..<bodies.count { foreseePair(slot, other) }
      }
      return
    }
    for slot in bodies.indices where !bodies[slot].isFast { foreseeForward(slot) }
    for index in fastSlots.indices { foreseeFast(index) }
  }

  /// Queues what a body meets after it was deflected.
  mutating func foreseeAgain(_ slot: Int) {
    batch += 1
    foreseeBarrier(slot)
    guard usesGrid else {
      for other in bodies.indices where other != slot { foreseePair(slot, other) }
      return
    }
    foreseeAround(slot)
    // The fast ones may be anywhere.
    for index in fastSlots.indices {
      let other = Int(fastSlots[index])
      if other != slot { foreseePair(slot, other) }
    }
  }

  private mutating func foreseeBarrier(_ slot: Int) {
    let body = bodies[slot]
    guard body.role == .dynamic, let contact = law.barrier(body, on: table) else { return }
    let number = Int32(contact.barrier.rawValue)
    queue.push(
      PendingContact(
        clock: body.clock + contact.time, a: body.id, b: Int32(bodies.count) + number,
        stampA: body.stamp, stampB: 0, batch: batch))
  }

  /// Pairs of an ordinary body with those in later slots.
  private mutating func foreseeForward(_ slot: Int) {
    let body = bodies[slot]
    let reach =
      body.radius + largestRadius + ordinaryReach + law.reach(body.velocity, body.role, from: 0)
    let row = grid.row(body.position.y)
    let left = grid.column(body.position.x - reach)
    let right = grid.column(body.position.x + reach)
    let own = grid.column(body.position.x)
    foreseePairs(
      slot, slot + 1..<grid.slots(row: row, from: own, through: right).upperBound)
    let last = grid.row(body.position.y + reach)
    guard last > row else { return }
    for above in row + 1...last {
      foreseePairs(slot, grid.slots(row: above, from: left, through: right))
    }
  }

  /// Pairs of one body with all ordinary bodies that it may meet.
  private mutating func foreseeAround(_ slot: Int) {
    let body = bodies[slot]
    let reach =
      body.radius + largestRadius + ordinaryReach + law.reach(body.velocity, body.role, from: now)
    let left = grid.column(body.position.x - reach)
    let right = grid.column(body.position.x + reach)
    for row in grid.row(body.position.y - reach)...grid.row(body.position.y + reach) {
      foreseePairs(slot, grid.slots(row: row, from: left, through: right))
    }
  }

  /// Pairs of the fast body at `index` of the list with the ordinary and the later fast ones.
  private mutating func foreseeFast(_ index: Int) {
    let slot = Int(fastSlots[index])
    foreseeAround(slot)
    for later in index + 1..<fastSlots.count { foreseePair(slot, Int(fastSlots[later])) }
  }

  /// Pairs of one body with the ordinary ones of a range of slots.
  @inline(__always)
  private mutating func foreseePairs(_ slot: Int, _ others: Range<Int>) {
    guard isStraight else {
      for other in others where other != slot && !bodies[other].isFast { foreseePair(slot, other) }
      return
    }
    let way = ways[slot]
    let here = way.position + way.velocity * now
    let distance = bodies[slot].radius + largestRadius
    let square = distance * distance + Self.slack
    let rest = 2 * (law.horizon - now)
    for other in others {
      let that = ways[other]
      let velocity = way.velocity - that.velocity
      let offset = here - that.position - that.velocity * now
      let closing = offset.dot(velocity)
      // Most pairs end here, also those that part: one branch that is nearly always taken. The
      // few others are looked at exactly.
      guard offset.lengthSquared - square <= -closing * rest else { continue }
      if other != slot, !bodies[other].isFast { foreseePair(slot, other) }
    }
  }

  /// What the ways' rounding may hide, square metres.
  private static let slack = 1e-9

  @inline(__always)
  private mutating func foreseePair(_ slot: Int, _ other: Int) {
    let x = bodies[slot]
    let y = bodies[other]
    if law.kind == .inertial || (law.isStraight(x) && law.isStraight(y)) {
      let offset = x.straight(at: now) - y.straight(at: now)
      let velocity = x.velocity - y.velocity
      let closing = offset.dot(velocity)
      guard closing < 0 else { return }
      let distance = x.radius + y.radius
      let gap = offset.lengthSquared - distance * distance
      // No contact comes sooner than gap / (2 * closing): most pairs end here.
      guard gap <= -2 * closing * (law.horizon - now),
        !Resting.holds(gap: gap, closing: closing, distance: distance)
      else { return }
      foreseeStraight(x, y, offset, velocity, distance)
    } else {
      foreseeCurved(x, y)
    }
  }

  @inline(never)
  private mutating func foreseeStraight(
    _ x: Body, _ y: Body, _ offset: Vector, _ velocity: Vector, _ distance: Double
  ) {
    guard
      let wait = TimeOfImpact.circles(offset: offset, velocity: velocity, distance: distance),
      now + wait <= law.horizon
    else { return }
    enqueue(x, y, now + wait)
  }

  @inline(never)
  private mutating func foreseeCurved(_ x: Body, _ y: Body) {
    let offset = law.position(x, at: now) - law.position(y, at: now)
    let near =
      x.radius + y.radius + law.reach(x.velocity, x.role, from: now)
      + law.reach(y.velocity, y.role, from: now)
    guard offset.lengthSquared <= near * near,
      let clock = law.curvedContact(x, y, now: now)
    else { return }
    enqueue(x, y, clock)
  }

  private mutating func enqueue(_ x: Body, _ y: Body, _ clock: Double) {
    guard x.role == .dynamic || y.role == .dynamic || x.role != y.role else { return }
    let (low, high) = x.id < y.id ? (x, y) : (y, x)
    queue.push(
      PendingContact(
        clock: min(clock, law.horizon), a: low.id, b: high.id, stampA: low.stamp,
        stampB: high.stamp, batch: batch))
  }
}
