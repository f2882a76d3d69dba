/// The state of one step of a `SingleDiscSolver` in which contacts are possible.
struct SingleDiscStep {
  private enum Next {
    case nothing
    case barrier(Barrier)
    case kinematic(first: Bool, second: Bool)
  }

  let table: Table
  let surface: Surface
  /// The clock reading at the end of the step. The dynamic disc's velocity is constant in this
  /// clock.
  let horizon: Double
  /// The length of the step, in seconds.
  let step: Double
  var speedCap = Double.infinity
  /// The current reading of the clock in which `horizon` is measured.
  private var clock = 0.0
  /// The current time, in seconds since the start of the step.
  private var time = 0.0
  private var contacts = SingleDiscContacts()

  init(table: Table, surface: Surface, horizon: Double, step: Double) {
    self.table = table
    self.surface = surface
    self.horizon = horizon
    self.step = step
  }

  /// The derivative of the clock with respect to time at `clock`. The dynamic disc's velocity in
  /// meters per second is its velocity as measured by the clock times this factor.
  private var decay: Double { 1 - surface.damping.drag * clock }

  mutating func resolveContacts(_ disc: inout Disc, _ first: inout Disc, _ second: inout Disc)
    -> SingleDiscContacts
  {
    // In the clock, the disc's velocity is constant between contacts. At clock 0, it equals the
    // velocity per second.
    let starts = (first.position, second.position)
    for _ in 0..<SingleDiscSolver.contactLimit {
      let (length, next) = nextContact(disc, first, second)
      advance(&disc, &first, &second, by: length, starts)
      switch next {
      case .nothing:
        return finish(&disc, &first, &second, starts)
      case .barrier(.goal):
        contacts.goal = disc.position.x < 0 ? -1 : 1
        contacts.endTime = time
        return finish(&disc, &first, &second, starts)
      case .barrier(let barrier): bounce(&disc, at: barrier)
      case .kinematic(let byFirst, let bySecond):
        hit(&disc, first: byFirst ? first : nil, second: bySecond ? second : nil)
      }
    }
    return pin(&disc, &first, &second, starts)
  }

  private func nextContact(_ disc: Disc, _ first: Disc, _ second: Disc) -> (Double, Next) {
    var length = horizon - clock
    var next = Next.nothing
    if let contact = table.firstBarrier(
      disc.position, disc.velocity, radius: disc.radius, horizon: length)
    {
      length = contact.time
      next = .barrier(contact.barrier)
    }
    let byFirst = contact(disc, first, horizon: length)
    let bySecond = contact(disc, second, horizon: length)
    let earliest = min(byFirst ?? .infinity, bySecond ?? .infinity)
    guard earliest < length || (earliest == length && isNothing(next)) else {
      return (length, next)
    }
    return (earliest, .kinematic(first: byFirst == earliest, second: bySecond == earliest))
  }

  private func isNothing(_ next: Next) -> Bool {
    if case .nothing = next { return true }
    return false
  }

  /// Returns the number of clock units until the dynamic disc contacts a kinematic one, or nil if
  /// the discs do not touch within `length` units.
  private func contact(_ disc: Disc, _ other: Disc, horizon length: Double) -> Double? {
    let drag = surface.damping.drag
    let distance = disc.radius + other.radius
    let offset = disc.position - other.position
    let ends = 1 - drag * (clock + length)
    let isStill = other.velocity == .zero
    let relative = isStill ? disc.velocity : disc.velocity - other.velocity * (1 / decay)
    let gap = offset.lengthSquared - distance * distance
    if drag == 0 || isStill {
      guard !RestingContact.isResting(gap: gap, closing: offset.dot(relative), distance: distance)
      else {
        return nil
      }
      let time = TimeOfImpact.circles(offset: offset, velocity: relative, distance: distance)
      return time.flatMap { $0 <= length ? $0 : nil }
    }
    let speed = other.velocity.length
    let acceleration = speed * drag / (ends * ends)
    let room = distance + 0.5 * acceleration * length * length
    guard
      let early = TimeOfImpact.circles(offset: offset, velocity: relative, distance: room)
        ?? (offset.lengthSquared < room * room ? 0 : nil), early <= length
    else { return nil }
    return MovingContact.first(distance: distance, acceleration: acceleration, horizon: length) {
      let now = clock + $0
      let moved = other.velocity * (surface.damping.time(atClock: now) - time)
      return (
        offset + disc.velocity * $0 - moved,
        disc.velocity - other.velocity * (1 / (1 - drag * now))
      )
    }
  }

  private mutating func advance(
    _ disc: inout Disc, _ first: inout Disc, _ second: inout Disc, by length: Double,
    _ starts: (Vector, Vector)
  ) {
    disc.position += disc.velocity * length
    clock += length
    time = surface.damping.time(atClock: clock)
    first.position = starts.0 + first.velocity * time
    second.position = starts.1 + second.velocity * time
  }

  private mutating func bounce(_ disc: inout Disc, at barrier: Barrier) {
    let normal = table.normal(at: barrier, disc.position, disc.velocity)
    let decay = decay
    if barrier == .railX || barrier == .railY { contacts.rails += 1 } else { contacts.posts += 1 }
    contacts.impact = max(contacts.impact, -disc.velocity.dot(normal) * decay)
    let velocity = disc.velocity * decay
    if surface.railFriction == 0 {
      let bounced = Impulse.atRail(
        velocity, normal: normal, restitution: surface.railRestitution)
      disc.velocity = bounced * (1 / decay)
      return
    }
    let contact = Impulse.atRail(
      velocity, spin: disc.spin, radius: disc.radius, normal: normal,
      restitution: surface.railRestitution, friction: surface.railFriction)
    disc.velocity = contact.velocity * (1 / decay)
    disc.spin = contact.spin
  }

  /// Applies a hit by one kinematic disc, or by both at the same instant. The two impulses are
  /// added, so that their order does not matter.
  private mutating func hit(_ disc: inout Disc, first: Disc?, second: Disc?) {
    let velocity = disc.velocity * decay
    var change = Vector.zero
    if let first {
      change += push(disc, velocity, by: first)
      contacts.firstHits += 1
    }
    if let second {
      change += push(disc, velocity, by: second)
      contacts.secondHits += 1
    }
    disc.velocity = (velocity + change).limited(to: speedCap) * (1 / decay)
  }

  /// Returns the change in velocity that a hit by one kinematic disc causes.
  private mutating func push(_ disc: Disc, _ velocity: Vector, by other: Disc) -> Vector {
    let after = Impulse.betweenDiscs(
      disc.position, velocity, inverseMass: 1, other.position, other.velocity, inverseMass: 0,
      restitution: surface.discRestitution)
    let change = after.v1 - velocity
    contacts.impact = max(contacts.impact, change.length / (1 + surface.discRestitution))
    return change
  }

  private mutating func finish(
    _ disc: inout Disc, _ first: inout Disc, _ second: inout Disc, _ starts: (Vector, Vector)
  ) -> SingleDiscContacts {
    disc.velocity = disc.velocity * decay
    first.position = starts.0 + first.velocity * step
    second.position = starts.1 + second.velocity * step
    if contacts.goal == 0 { contacts.endTime = step }
    return contacts
  }

  /// Pins the disc after too many contacts: it rests for the remainder of the step, and kinematic
  /// discs stop at it.
  private mutating func pin(
    _ disc: inout Disc, _ first: inout Disc, _ second: inout Disc, _ starts: (Vector, Vector)
  ) -> SingleDiscContacts {
    disc.velocity = .zero
    contacts.isPinned = true
    contacts.endTime = step
    stop(&first, at: disc)
    stop(&second, at: disc)
    return contacts
  }

  private func stop(_ other: inout Disc, at disc: Disc) {
    let rest = step - time
    let reach = disc.radius + other.radius
    let contact = TimeOfImpact.circles(
      offset: other.position - disc.position, velocity: other.velocity, distance: reach)
    other.position += other.velocity * min(rest, contact ?? rest)
  }
}
