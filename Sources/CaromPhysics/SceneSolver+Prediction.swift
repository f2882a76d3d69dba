extension SceneSolver {
  /// Predicts the first contacts of all bodies at the start of a step.
  mutating func predictContacts() {
    for slot in bodies.indices { predictBarrier(slot) }
    guard usesGrid else {
      for slot in bodies.indices.dropLast() {
        for other in slot + 1..<bodies.count { predictPair(slot, other) }
      }
      return
    }
    for slot in bodies.indices where !bodies[slot].isFast { predictLaterPairs(slot) }
    for index in fastSlots.indices { predictFastPairs(index) }
  }

  /// Predicts the contacts of a body that was deflected.
  mutating func predictContacts(of slot: Int) {
    batch += 1
    predictBarrier(slot)
    guard usesGrid else {
      for other in bodies.indices where other != slot { predictPair(slot, other) }
      return
    }
    predictNearbyPairs(slot)
    // Fast bodies may be in any cell, so test them all.
    for index in fastSlots.indices {
      let other = Int(fastSlots[index])
      if other != slot { predictPair(slot, other) }
    }
  }

  private mutating func predictBarrier(_ slot: Int) {
    let body = bodies[slot]
    guard body.role == .dynamic, let contact = law.barrier(body, on: table) else { return }
    let number = Int32(contact.barrier.rawValue)
    queue.push(
      PendingContact(
        clock: body.clock + contact.time, a: body.id, b: Int32(bodies.count) + number,
        stampA: body.stamp, stampB: 0, batch: batch))
  }

  /// Predicts the contacts of a body that is not fast with other such bodies in later slots, so
  /// that each pair is tested once.
  private mutating func predictLaterPairs(_ slot: Int) {
    let body = bodies[slot]
    let reach =
      body.radius + largestRadius + ordinaryReach + law.reach(body.velocity, body.role, from: 0)
    let row = grid.row(body.position.y)
    let left = grid.column(body.position.x - reach)
    let right = grid.column(body.position.x + reach)
    let own = grid.column(body.position.x)
    predictPairs(
      slot, slot + 1..<grid.slots(row: row, from: own, through: right).upperBound)
    let last = grid.row(body.position.y + reach)
    guard last > row else { return }
    for above in row + 1...last {
      predictPairs(slot, grid.slots(row: above, from: left, through: right))
    }
  }

  /// Predicts the contacts of a body with the bodies in the cells within its reach, except the fast
  /// ones.
  private mutating func predictNearbyPairs(_ slot: Int) {
    let body = bodies[slot]
    let reach =
      body.radius + largestRadius + ordinaryReach + law.reach(body.velocity, body.role, from: now)
    let left = grid.column(body.position.x - reach)
    let right = grid.column(body.position.x + reach)
    for row in grid.row(body.position.y - reach)...grid.row(body.position.y + reach) {
      predictPairs(slot, grid.slots(row: row, from: left, through: right))
    }
  }

  /// Predicts the contacts of the fast body at `index` of `fastSlots` with all bodies that are not
  /// fast, and with the later bodies of `fastSlots`.
  private mutating func predictFastPairs(_ index: Int) {
    let slot = Int(fastSlots[index])
    predictNearbyPairs(slot)
    for later in index + 1..<fastSlots.count { predictPair(slot, Int(fastSlots[later])) }
  }

  /// Predicts the contacts of a body with the bodies in a range of slots, except the fast ones.
  @inline(__always)
  private mutating func predictPairs(_ slot: Int, _ others: Range<Int>) {
    guard isStraight else {
      for other in others where other != slot && !bodies[other].isFast { predictPair(slot, other) }
      return
    }
    let trajectory = trajectories[slot]
    let position = trajectory.position + trajectory.velocity * now
    let distance = bodies[slot].radius + largestRadius
    let square = distance * distance + Self.slack
    let rest = 2 * (law.horizon - now)
    for other in others {
      let otherTrajectory = trajectories[other]
      let velocity = trajectory.velocity - otherTrajectory.velocity
      let offset = position - otherTrajectory.position - otherTrajectory.velocity * now
      let closing = offset.dot(velocity)
      // This one well-predicted branch rejects most pairs, including those that move apart. The few
      // others are tested exactly.
      guard offset.lengthSquared - square <= -closing * rest else { continue }
      if other != slot, !bodies[other].isFast { predictPair(slot, other) }
    }
  }

  /// A tolerance for the rounding of extrapolated trajectories, in square meters.
  private static let slack = 1e-9

  @inline(__always)
  private mutating func predictPair(_ slot: Int, _ other: Int) {
    let x = bodies[slot]
    let y = bodies[other]
    if law.kind == .inertial || (law.isStraight(x) && law.isStraight(y)) {
      let offset = x.straightPosition(at: now) - y.straightPosition(at: now)
      let velocity = x.velocity - y.velocity
      let closing = offset.dot(velocity)
      guard closing < 0 else { return }
      let distance = x.radius + y.radius
      let gap = offset.lengthSquared - distance * distance
      // No contact happens before gap / (2 * closing), which rejects most pairs.
      guard gap <= -2 * closing * (law.horizon - now),
        !RestingContact.isResting(gap: gap, closing: closing, distance: distance)
      else { return }
      predictStraight(x, y, offset, velocity, distance)
    } else {
      predictCurved(x, y)
    }
  }

  @inline(never)
  private mutating func predictStraight(
    _ x: Body, _ y: Body, _ offset: Vector, _ velocity: Vector, _ distance: Double
  ) {
    guard
      let wait = TimeOfImpact.circles(offset: offset, velocity: velocity, distance: distance),
      now + wait <= law.horizon
    else { return }
    enqueue(x, y, now + wait)
  }

  @inline(never)
  private mutating func predictCurved(_ x: Body, _ y: Body) {
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
