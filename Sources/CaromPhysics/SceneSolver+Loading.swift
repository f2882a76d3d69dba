extension SceneSolver {
  /// The multiple of the root mean square speed that a body must exceed to be fast. In a gas in
  /// equilibrium, one body in 8,000 exceeds it.
  private static let fastRatio = 3.0

  /// Copies the scene's discs into `bodies`, sorted by cell if the solver uses a grid.
  mutating func load(_ scene: Scene) {
    let count = scene.count
    usesGrid = count >= gridThreshold
    if usesGrid {
      largestRadius = scene.radii.max() ?? 0
      grid.layOut(over: scene.table, count: count, radius: largestRadius)
      grid.sort(scene.motions, into: &slotOfID)
    }
    resize(to: count)
    var squares = 0.0
    isStraight = true
    for id in 0..<count {
      let body = makeBody(scene, id)
      isStraight = isStraight && law.isStraight(body)
      squares += body.velocity.lengthSquared
      let slot = usesGrid ? Int(slotOfID[id]) : id
      bodies[slot] = body
      startPositions[slot] = body.position
      trajectories[slot] = Motion(position: body.position, velocity: body.velocity)
    }
    fastSlots.removeAll(keepingCapacity: true)
    guard usesGrid else { return }
    let typical = (squares / Double(count)).squareRoot() * law.step
    ordinaryReach = max(Self.fastRatio * typical, 0.5 * largestRadius)
    for slot in 0..<count { markIfFast(slot, moved: 0) }
  }

  private mutating func resize(to count: Int) {
    guard bodies.count != count else { return }
    let blank = Body(
      position: .zero, velocity: .zero, clock: 0, radius: 1, inverseMass: 0, id: 0,
      role: .kinematic)
    bodies = Array(repeating: blank, count: count)
    startPositions = Array(repeating: .zero, count: count)
    trajectories = Array(repeating: Motion(position: .zero), count: count)
    // Reserve enough for the busiest step of a gas, so that later steps do not allocate.
    queue.reserveCapacity(8 * count + 64)
    contacts.reserveCapacity(recordsContacts ? 4 * count + 64 : 0)
    fastSlots.reserveCapacity(count)
    tiedContacts.reserveCapacity(64)
  }

  private func makeBody(_ scene: Scene, _ id: Int) -> Body {
    let motion = scene.motions[id]
    let inverseMass = scene.inverseMasses[id]
    return Body(
      position: motion.position, velocity: motion.velocity, clock: 0, radius: scene.radii[id],
      inverseMass: inverseMass, id: Int32(truncatingIfNeeded: id),
      role: inverseMass == 0 ? .kinematic : .dynamic)
  }

  /// Marks a body as fast if it may end the step farther than `ordinaryReach` from its start
  /// position, from which it is now `moved` meters away.
  mutating func markIfFast(_ slot: Int, moved: Double) {
    let body = bodies[slot]
    guard !body.isFast else { return }
    let limit = ordinaryReach - moved
    let rest = body.role == .kinematic ? law.step : law.horizon - body.clock
    guard limit <= 0 || body.velocity.lengthSquared * rest * rest > limit * limit else { return }
    bodies[slot].isFast = true
    fastSlots.append(Int32(truncatingIfNeeded: slot))
  }

  /// Advances every body to the clock reading `clock` and writes it back to the scene.
  mutating func store(_ scene: inout Scene, at clock: Double) {
    for slot in bodies.indices {
      let body = bodies[slot]
      let id = Int(body.id)
      scene.motions[id].position = law.position(body, at: clock)
      // A kinematic disc keeps the velocity that its owner set, even if a pinned disc stopped it.
      if body.role != .kinematic { scene.motions[id].velocity = law.velocity(body, at: clock) }
    }
  }
}
