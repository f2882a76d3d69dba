/// A boundary of the table that a disc can touch or cross.
enum Barrier: UInt8 {
  // Barriers hit at the same time are resolved in the order of their raw values.
  case railY, railX, postLow, postHigh, goal
}

/// A contact of a disc with a barrier.
struct BarrierContact {
  /// The time until the contact, in the time unit of the disc's velocity.
  var time: Double
  var barrier: Barrier
}

extension Table {
  /// Returns whether a disc that moves in a straight line from `start` to `end` touches no rail,
  /// post or goal line.
  @inline(__always)
  func isClear(_ start: Vector, _ end: Vector, radius: Double) -> Bool {
    let x = halfLength - radius
    let y = halfWidth - radius
    return end.x.magnitude <= x && end.y.magnitude <= y
      && start.x.magnitude <= x && start.y.magnitude <= y
  }

  /// Returns the first contact of a disc with a barrier within `horizon`, which may be infinite, or
  /// nil if there is none.
  @inline(__always)
  func firstBarrier(
    _ position: Vector, _ velocity: Vector, radius: Double, horizon: Double
  ) -> BarrierContact? {
    guard !isClear(position, position + velocity * horizon, radius: radius) else { return nil }
    return searchBarrier(position, velocity, radius: radius, horizon: horizon)
  }

  @inline(never)
  private func searchBarrier(
    _ position: Vector, _ velocity: Vector, radius: Double, horizon: Double
  ) -> BarrierContact? {
    var best = BarrierContact(time: horizon, barrier: .railY)
    var found = false
    func offer(_ time: Double, _ barrier: Barrier) {
      guard time < best.time || (!found && time <= best.time) else { return }
      best = BarrierContact(time: time, barrier: barrier)
      found = true
    }
    if velocity.y != 0 {
      offer(Self.reach(position.y, velocity.y, halfWidth - radius), .railY)
    }
    if velocity.x != 0 {
      let time = Self.reach(position.x, velocity.x, halfLength - radius)
      if (position.y + velocity.y * time).magnitude >= goalHalfWidth { offer(time, .railX) }
    }
    guard goalHalfWidth > 0 else { return found ? best : nil }
    func offerPosts(at x: Double) {
      let near = x * position.x > halfLength * (halfLength - radius)
      guard near || x * velocity.x > 0 else { return }
      let low = position - Vector(x, -goalHalfWidth)
      if let time = TimeOfImpact.circles(offset: low, velocity: velocity, distance: radius) {
        offer(time, .postLow)
      }
      let high = position - Vector(x, goalHalfWidth)
      if let time = TimeOfImpact.circles(offset: high, velocity: velocity, distance: radius) {
        offer(time, .postHigh)
      }
    }
    offerPosts(at: -halfLength)
    offerPosts(at: halfLength)
    if velocity.x != 0 {
      let time = Self.reach(position.x, velocity.x, halfLength)
      if (position.y + velocity.y * time).magnitude < goalHalfWidth { offer(time, .goal) }
    }
    return found ? best : nil
  }

  /// Returns the time until a coordinate that moves at `velocity` reaches `limit` or -`limit`,
  /// whichever it moves towards.
  @inline(__always)
  private static func reach(_ position: Double, _ velocity: Double, _ limit: Double) -> Double {
    max(0, velocity > 0 ? (limit - position) / velocity : (limit + position) / -velocity)
  }

  /// Returns the unit normal of `barrier` that points towards a disc at `position` that moves at
  /// `velocity`.
  func normal(at barrier: Barrier, _ position: Vector, _ velocity: Vector) -> Vector {
    switch barrier {
    case .railY: return Vector(0, velocity.y > 0 ? -1 : 1)
    case .railX, .goal: return Vector(velocity.x > 0 ? -1 : 1, 0)
    case .postLow, .postHigh:
      let x = position.x < 0 ? -halfLength : halfLength
      let y = barrier == .postLow ? -goalHalfWidth : goalHalfWidth
      let offset = position - Vector(x, y)
      return offset * (1 / offset.length)
    }
  }
}
