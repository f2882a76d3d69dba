extension SceneSolver {
  /// Resolves a contact: changes the velocities of its discs, and predicts their next contacts.
  /// Returns true if the contact is a goal, which ends the step.
  mutating func resolve(_ contact: PendingContact, _ scene: inout Scene) -> Bool {
    let count = Int32(bodies.count)
    guard contact.b < count else {
      let barrier = Barrier(rawValue: UInt8(contact.b - count)) ?? .goal
      return resolve(barrier, slot(contact.a), &scene)
    }
    let partner = popPartner(of: contact)
    recordPair(contact)
    if let partner {
      recordPair(partner)
      resolveSimultaneously(contact, partner)
    } else {
      resolvePair(slot(contact.a), slot(contact.b))
    }
    return false
  }

  private mutating func resolve(
    _ barrier: Barrier, _ slot: Int, _ scene: inout Scene
  ) -> Bool {
    advanceToNow(slot)
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
    predictContacts(of: slot)
    return false
  }

  mutating func resolvePair(_ slot: Int, _ other: Int) {
    advanceToNow(slot)
    advanceToNow(other)
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
    if x.role == .dynamic { predictContacts(of: slot) }
    if y.role == .dynamic { predictContacts(of: other) }
  }

  /// Advances a body to the current clock reading, so that it can be deflected.
  @inline(__always)
  mutating func advanceToNow(_ slot: Int) {
    let body = bodies[slot]
    if law.kind != .inertial {
      let velocity = law.velocity(body, at: now)
      bodies[slot].velocity = law.storedVelocity(velocity, for: body.role, at: now)
    }
    bodies[slot].position = law.position(body, at: now)
    bodies[slot].clock = now
  }

  /// Sets the velocity of a dynamic body, in meters per second. Pins the body instead if it has had
  /// more than `contactLimit` contacts.
  mutating func deflect(_ slot: Int, to velocity: Vector) {
    guard bodies[slot].role == .dynamic else { return }
    bodies[slot].stamp += 1
    bodies[slot].velocity = law.storedVelocity(velocity, for: .dynamic, at: now)
    if Int(bodies[slot].stamp) > contactLimit {
      bodies[slot].role = .pinned
      bodies[slot].inverseMass = 0
      bodies[slot].velocity = .zero
      outcome.pinnedCount += 1
    }
    guard usesGrid else { return }
    let body = bodies[slot]
    trajectories[slot] = Motion(
      position: body.position - body.velocity * now, velocity: body.velocity)
    let moved = body.position - startPositions[slot]
    markIfFast(slot, moved: moved.length)
  }

  /// Stops, for the rest of the step, a kinematic body that has hit a pinned one.
  private mutating func stop(_ slot: Int) {
    bodies[slot].velocity = .zero
    bodies[slot].stamp += 1
    if usesGrid { trajectories[slot] = Motion(position: bodies[slot].position) }
    predictContacts(of: slot)
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
