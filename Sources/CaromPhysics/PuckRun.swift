/// The working state of one step of a `PuckSolver` in which something may touch.
struct PuckRun {
  private enum Next {
    case nothing
    case barrier(Barrier)
    case mallets(first: Bool, second: Bool)
  }

  let table: Table
  let surface: Surface
  /// The step's end in the clock in which the puck moves straight.
  let horizon: Double
  let step: Double
  var speedCap = Double.infinity
  /// Where the step is, in that clock and in time.
  private var clock = 0.0
  private var time = 0.0
  private var touches = PuckTouches()

  init(table: Table, surface: Surface, horizon: Double, step: Double) {
    self.table = table
    self.surface = surface
    self.horizon = horizon
    self.step = step
  }

  /// v at `clock` is the velocity in the clock times this.
  private var decay: Double { 1 - surface.glide.drag * clock }

  mutating func play(_ puck: inout Disc, _ first: inout Disc, _ second: inout Disc) -> PuckTouches {
    // In the clock the puck's velocity stays as it is between contacts; at clock 0 it is v.
    let starts = (first.position, second.position)
    for _ in 0..<PuckSolver.contactLimit {
      let (length, next) = nextContact(puck, first, second)
      advance(&puck, &first, &second, by: length, starts)
      switch next {
      case .nothing:
        return finish(&puck, &first, &second, starts)
      case .barrier(.goal):
        touches.goal = puck.position.x < 0 ? -1 : 1
        touches.endTime = time
        return finish(&puck, &first, &second, starts)
      case .barrier(let barrier): bounce(&puck, at: barrier)
      case .mallets(let byFirst, let bySecond):
        hit(&puck, first: byFirst ? first : nil, second: bySecond ? second : nil)
      }
    }
    return pin(&puck, &first, &second, starts)
  }

  private func nextContact(_ puck: Disc, _ first: Disc, _ second: Disc) -> (Double, Next) {
    var length = horizon - clock
    var next = Next.nothing
    if let contact = table.firstBarrier(
      puck.position, puck.velocity, radius: puck.radius, horizon: length)
    {
      length = contact.time
      next = .barrier(contact.barrier)
    }
    let byFirst = contact(puck, first, horizon: length)
    let bySecond = contact(puck, second, horizon: length)
    let earliest = min(byFirst ?? .infinity, bySecond ?? .infinity)
    guard earliest < length || (earliest == length && isNothing(next)) else {
      return (length, next)
    }
    return (earliest, .mallets(first: byFirst == earliest, second: bySecond == earliest))
  }

  private func isNothing(_ next: Next) -> Bool {
    if case .nothing = next { return true }
    return false
  }

  /// When the mallet meets the puck, from the present clock on.
  private func contact(_ puck: Disc, _ mallet: Disc, horizon length: Double) -> Double? {
    let drag = surface.glide.drag
    let distance = puck.radius + mallet.radius
    let offset = puck.position - mallet.position
    let ends = 1 - drag * (clock + length)
    let still = mallet.velocity == .zero
    let relative = still ? puck.velocity : puck.velocity - mallet.velocity * (1 / decay)
    let gap = offset.lengthSquared - distance * distance
    if drag == 0 || still {
      guard !Resting.holds(gap: gap, closing: offset.dot(relative), distance: distance) else {
        return nil
      }
      let time = TimeOfImpact.circles(offset: offset, velocity: relative, distance: distance)
      return time.flatMap { $0 <= length ? $0 : nil }
    }
    let speed = mallet.velocity.length
    let acceleration = speed * drag / (ends * ends)
    let room = distance + 0.5 * acceleration * length * length
    guard
      let early = TimeOfImpact.circles(offset: offset, velocity: relative, distance: room)
        ?? (offset.lengthSquared < room * room ? 0 : nil), early <= length
    else { return nil }
    return MovingContact.first(distance: distance, acceleration: acceleration, horizon: length) {
      let now = clock + $0
      let moved = mallet.velocity * (surface.glide.time(atClock: now) - time)
      return (
        offset + puck.velocity * $0 - moved,
        puck.velocity - mallet.velocity * (1 / (1 - drag * now))
      )
    }
  }

  private mutating func advance(
    _ puck: inout Disc, _ first: inout Disc, _ second: inout Disc, by length: Double,
    _ starts: (Vector, Vector)
  ) {
    puck.position += puck.velocity * length
    clock += length
    time = surface.glide.time(atClock: clock)
    first.position = starts.0 + first.velocity * time
    second.position = starts.1 + second.velocity * time
  }

  private mutating func bounce(_ puck: inout Disc, at barrier: Barrier) {
    let normal = table.normal(at: barrier, puck.position, puck.velocity)
    let decay = decay
    if barrier == .railX || barrier == .railY { touches.rails += 1 } else { touches.posts += 1 }
    touches.impact = max(touches.impact, -puck.velocity.dot(normal) * decay)
    let velocity = puck.velocity * decay
    if surface.railFriction == 0 {
      let bounced = Impulse.atRail(
        velocity, normal: normal, restitution: surface.railRestitution)
      puck.velocity = bounced * (1 / decay)
      return
    }
    let contact = Impulse.atRail(
      velocity, spin: puck.spin, radius: puck.radius, normal: normal,
      restitution: surface.railRestitution, friction: surface.railFriction)
    puck.velocity = contact.velocity * (1 / decay)
    puck.spin = contact.spin
  }

  /// Hits by one mallet, or by both at the same instant: then their impulses add, so that which
  /// is first and which second does not matter.
  private mutating func hit(_ puck: inout Disc, first: Disc?, second: Disc?) {
    let velocity = puck.velocity * decay
    var change = Vector.zero
    if let first {
      change += push(puck, velocity, by: first)
      touches.firstMallet += 1
    }
    if let second {
      change += push(puck, velocity, by: second)
      touches.secondMallet += 1
    }
    puck.velocity = (velocity + change).limited(to: speedCap) * (1 / decay)
  }

  /// The change of velocity that one mallet causes.
  private mutating func push(_ puck: Disc, _ velocity: Vector, by mallet: Disc) -> Vector {
    let after = Impulse.betweenDiscs(
      puck.position, velocity, inverseMass: 1, mallet.position, mallet.velocity, inverseMass: 0,
      restitution: surface.discRestitution)
    let change = after.v1 - velocity
    touches.impact = max(touches.impact, change.length / (1 + surface.discRestitution))
    return change
  }

  private mutating func finish(
    _ puck: inout Disc, _ first: inout Disc, _ second: inout Disc, _ starts: (Vector, Vector)
  ) -> PuckTouches {
    puck.velocity = puck.velocity * decay
    first.position = starts.0 + first.velocity * step
    second.position = starts.1 + second.velocity * step
    if touches.goal == 0 { touches.endTime = step }
    return touches
  }

  /// Too many contacts: the puck rests for the rest of the step, and mallets stop at it.
  private mutating func pin(
    _ puck: inout Disc, _ first: inout Disc, _ second: inout Disc, _ starts: (Vector, Vector)
  ) -> PuckTouches {
    puck.velocity = .zero
    touches.pinned = true
    touches.endTime = step
    stop(&first, at: puck)
    stop(&second, at: puck)
    return touches
  }

  private func stop(_ mallet: inout Disc, at puck: Disc) {
    let rest = step - time
    let reach = puck.radius + mallet.radius
    let contact = TimeOfImpact.circles(
      offset: mallet.position - puck.position, velocity: mallet.velocity, distance: reach)
    mallet.position += mallet.velocity * min(rest, contact ?? rest)
  }
}
