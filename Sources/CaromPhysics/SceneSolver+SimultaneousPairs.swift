extension SceneSolver {
  /// Removes and returns a queued contact that was predicted in the same pass for the same instant
  /// as `contact` and shares exactly one disc with it. Returns nil if there is none.
  mutating func popPartner(of contact: PendingContact) -> PendingContact? {
    guard let next = queue.first, next.clock == contact.clock else { return nil }
    var partner: PendingContact?
    tiedContacts.removeAll(keepingCapacity: true)
    while partner == nil, let next = queue.first, next.clock == contact.clock {
      _ = queue.pop()
      guard isFresh(next) else { continue }
      if next.batch == contact.batch, sharesOne(contact, next) {
        partner = next
      } else {
        tiedContacts.append(next)
      }
    }
    for contact in tiedContacts { queue.push(contact) }
    return partner
  }

  private func sharesOne(_ x: PendingContact, _ y: PendingContact) -> Bool {
    guard y.b < Int32(bodies.count), x.a != y.a || x.b != y.b else { return false }
    return x.a == y.a || x.a == y.b || x.b == y.a || x.b == y.b
  }

  /// Resolves two simultaneous contacts of one disc, so that afterwards each pair separates at its
  /// closing speed times the restitution. If that would require an attracting impulse, the contacts
  /// are resolved one after another.
  mutating func resolveSimultaneously(_ x: PendingContact, _ y: PendingContact) {
    let sharesA = x.a == y.a || x.a == y.b
    let shared = slot(sharesA ? x.a : x.b)
    let first = slot(sharesA ? x.b : x.a)
    let second = slot(y.a == bodies[shared].id ? y.b : y.a)
    advanceToNow(shared)
    advanceToNow(first)
    advanceToNow(second)
    guard let after = simultaneousVelocities(bodies[shared], bodies[first], bodies[second]) else {
      resolvePair(slot(x.a), slot(x.b))
      resolvePair(slot(y.a), slot(y.b))
      return
    }
    deflect(shared, to: after.shared)
    deflect(first, to: after.first)
    deflect(second, to: after.second)
    predictContacts(of: shared)
    predictContacts(of: first)
    predictContacts(of: second)
  }

  /// Solves Newton's law of restitution for both contacts simultaneously. Returns the velocities
  /// after the contacts, or nil if an impulse would be attracting or the equations are nearly
  /// singular.
  private func simultaneousVelocities(
    _ shared: Body, _ first: Body, _ second: Body
  ) -> (shared: Vector, first: Vector, second: Vector)? {
    let v0 = law.velocity(shared, at: now)
    let v1 = law.velocity(first, at: now)
    let v2 = law.velocity(second, at: now)
    let n1 = (shared.position - first.position).normalized
    let n2 = (shared.position - second.position).normalized
    let b1 = -(1 + surface.discRestitution) * (v0 - v1).dot(n1)
    let b2 = -(1 + surface.discRestitution) * (v0 - v2).dot(n2)
    let a11 = shared.inverseMass + first.inverseMass
    let a22 = shared.inverseMass + second.inverseMass
    let a12 = shared.inverseMass * n1.dot(n2)
    let determinant = a11 * a22 - a12 * a12
    guard determinant > 1e-9 * a11 * a22 else { return nil }
    let j1 = (b1 * a22 - b2 * a12) / determinant
    let j2 = (b2 * a11 - b1 * a12) / determinant
    guard j1 >= 0, j2 >= 0 else { return nil }
    return (
      v0 + (n1 * j1 + n2 * j2) * shared.inverseMass, v1 - n1 * (j1 * first.inverseMass),
      v2 - n2 * (j2 * second.inverseMass)
    )
  }
}
