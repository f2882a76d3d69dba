extension SceneSolver {
  /// Deflects what meets; true where a goal ends the step.
  mutating func carryOut(_ contact: PendingContact, _ scene: inout Scene) -> Bool {
    let count = Int32(bodies.count)
    guard contact.b < count else {
      let barrier = Barrier(rawValue: UInt8(contact.b - count)) ?? .goal
      return carryOut(barrier, slot(contact.a), &scene)
    }
    let partner = takePartner(of: contact)
    recordPair(contact)
    if let partner {
      recordPair(partner)
      carryOutTogether(contact, partner)
    } else {
      carryOutPair(slot(contact.a), slot(contact.b))
    }
    return false
  }

  private mutating func carryOut(
    _ barrier: Barrier, _ slot: Int, _ scene: inout Scene
  ) -> Bool {
    arrive(slot)
    let body = bodies[slot]
    let id = Int(body.id)
    record(barrier, body)
    guard barrier != .goal else { return true }
    let result = Impulse.atRail(
      law.velocity(body, at: now), spin: scene.spins[id], radius: body.radius,
      normal: table.normal(at: barrier, body.position, body.velocity),
      restitution: surface.railRestitution, friction: surface.railFriction)
    scene.spins[id] = result.spin
    deflect(slot, to: result.velocity)
    foreseeAgain(slot)
    return false
  }

  mutating func carryOutPair(_ slot: Int, _ other: Int) {
    arrive(slot)
    arrive(other)
    let x = bodies[slot]
    let y = bodies[other]
    guard x.role == .dynamic || y.role == .dynamic else {
      stop(x.role == .kinematic ? slot : other)
      return
    }
    let after = Impulse.betweenDiscs(
      x.position, law.velocity(x, at: now), inverseMass: x.inverseMass, y.position,
      law.velocity(y, at: now), inverseMass: y.inverseMass,
      restitution: surface.discRestitution)
    deflect(slot, to: after.v1)
    deflect(other, to: after.v2)
    if x.role == .dynamic { foreseeAgain(slot) }
    if y.role == .dynamic { foreseeAgain(other) }
  }

  /// Brings a body's place to the present, before it is deflected.
  @inline(__always)
  mutating func arrive(_ slot: Int) {
    let body = bodies[slot]
    if law.kind != .inertial {
      let velocity = law.velocity(body, at: now)
      bodies[slot].velocity = law.stored(velocity, for: body.role, at: now)
    }
    bodies[slot].position = law.position(body, at: now)
    bodies[slot].clock = now
  }

  /// Gives a dynamic body its new velocity (metres a second), or pins it where it had too many.
  mutating func deflect(_ slot: Int, to velocity: Vector) {
    guard bodies[slot].role == .dynamic else { return }
    bodies[slot].stamp += 1
    bodies[slot].velocity = law.stored(velocity, for: .dynamic, at: now)
    if Int(bodies[slot].stamp) > contactLimit {
      bodies[slot].role = .pinned
      bodies[slot].inverseMass = 0
      bodies[slot].velocity = .zero
      outcome.pinnedCount += 1
    }
    guard usesGrid else { return }
    let body = bodies[slot]
    ways[slot] = Motion(position: body.position - body.velocity * now, velocity: body.velocity)
    let moved = body.position - starts[slot]
    markIfFast(slot, moved: moved.length)
  }

  /// Stops a kinematic body at a pinned one for the rest of the step.
  private mutating func stop(_ slot: Int) {
    bodies[slot].velocity = .zero
    bodies[slot].stamp += 1
    if usesGrid { ways[slot] = Motion(position: bodies[slot].position) }
    foreseeAgain(slot)
  }

  private mutating func recordPair(_ contact: PendingContact) {
    outcome.contactCount += 1
    guard recordsContacts else { return }
    contacts.append(
      Contact(
        time: law.time(at: now), disc: Int(contact.a), kind: .disc(other: Int(contact.b))))
  }

  private mutating func record(_ barrier: Barrier, _ body: Body) {
    outcome.contactCount += 1
    guard recordsContacts else { return }
    let kind: Contact.Kind =
      switch barrier {
      case .railX: .railX
      case .railY: .railY
      case .postLow, .postHigh: .post
      case .goal: .goal(side: body.position.x < 0 ? -1 : 1)
      }
    contacts.append(Contact(time: law.time(at: now), disc: Int(body.id), kind: kind))
  }
}
