/// A rectangular table with a goal mouth in the middle of each short side; the centre is (0, 0).
///
/// The rails are y = +-`halfWidth`, and x = +-`halfLength` outside the mouths. The goal posts are
/// the four points (+-`halfLength`, +-`goalHalfWidth`).
public struct Table: Hashable, Sendable {
  /// From the centre to a goal line, metres.
  public var halfLength: Double
  /// From the centre to a long rail, metres.
  public var halfWidth: Double
  /// From the middle of a goal mouth to a post, metres; 0 closes the table.
  public var goalHalfWidth: Double

  /// A table of these half sizes.
  public init(halfLength: Double, halfWidth: Double, goalHalfWidth: Double = 0) {
    precondition(goalHalfWidth >= 0 && goalHalfWidth <= halfWidth, "a goal fits its side")
    self.halfLength = halfLength
    self.halfWidth = halfWidth
    self.goalHalfWidth = goalHalfWidth
  }
}

/// What stands around the table.
enum Barrier: UInt8 {
  // The order breaks ties in time.
  case railY, railX, postLow, postHigh, goal
}

/// The first barrier on a straight way.
struct BarrierContact {
  /// In the clock of the velocity it was asked for.
  var time: Double
  var barrier: Barrier
}

extension Table {
  /// Whether a straight way between two centres meets no rail, post or goal line.
  @inline(__always)
  func isClear(_ start: Vector, _ end: Vector, radius: Double) -> Bool {
    let x = halfLength - radius
    let y = halfWidth - radius
    return end.x.magnitude <= x && end.y.magnitude <= y
      && start.x.magnitude <= x && start.y.magnitude <= y
  }

  /// The first barrier that a disc meets within `horizon`, which may be infinite.
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

  /// When a coordinate moving at `velocity` reaches `limit` on the side it moves to.
  @inline(__always)
  private static func reach(_ position: Double, _ velocity: Double, _ limit: Double) -> Double {
    max(0, velocity > 0 ? (limit - position) / velocity : (limit + position) / -velocity)
  }

  /// The inward unit normal at `barrier` for a disc whose centre is at `position` and that moves
  /// at `velocity`.
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
