import CaromPhysics

/// Where puck and mallets can be, in steps of 2^-32.
enum Bounds {
  static let puckX = Lattice.units(Preset.halfLength)
  static let puckY = Lattice.units(Preset.halfWidth - Preset.puckRadius)
  static let puckSpeed = Lattice.units(Preset.puckSpeedCap)
  /// Rail friction turns at most the puck's speed into spin, which makes 480 rad/s.
  static let puckSpin = Lattice.units(1_024)
  static let malletNearX = Lattice.units(Preset.malletRadius)
  static let malletFarX = Lattice.units(Preset.halfLength - Preset.malletRadius)
  static let malletY = Lattice.units(Preset.halfWidth - Preset.malletRadius)

  /// Where a mallet stands when a match begins.
  static func rest(of seat: Seat) -> LatticePoint {
    LatticePoint(Vector(seat.side * 0.75, 0))
  }

  static func holds(mallet: LatticePoint, of seat: Seat) -> Bool {
    let half = seat == .home ? -malletFarX ... -malletNearX : malletNearX...malletFarX
    return half.contains(mallet.x) && (-malletY...malletY).contains(mallet.y)
  }

  static func holds(_ puck: PuckState) -> Bool {
    (-puckX...puckX).contains(puck.position.x) && (-puckY...puckY).contains(puck.position.y)
      && (-puckSpeed...puckSpeed).contains(puck.velocity.x)
      && (-puckSpeed...puckSpeed).contains(puck.velocity.y)
      && (-puckSpin...puckSpin).contains(puck.spin)
  }

  /// The nearest place that the seat's mallet may have.
  static func clamped(mallet: LatticePoint, of seat: Seat) -> LatticePoint {
    let forward = seat == .home ? -mallet.x : mallet.x
    let x = min(max(forward, malletNearX), malletFarX)
    return LatticePoint(
      x: seat == .home ? -x : x, y: min(max(mallet.y, -malletY), malletY))
  }

  /// The puck of the physics, rounded, and brought back where rounding took it over an edge.
  static func clamped(_ puck: Disc) -> PuckState {
    let position = LatticePoint(puck.position)
    let velocity = LatticePoint(puck.velocity)
    return PuckState(
      position: LatticePoint(
        x: min(max(position.x, -puckX), puckX), y: min(max(position.y, -puckY), puckY)),
      velocity: LatticePoint(
        x: min(max(velocity.x, -puckSpeed), puckSpeed),
        y: min(max(velocity.y, -puckSpeed), puckSpeed)),
      spin: min(max(Lattice.units(puck.spin), -puckSpin), puckSpin))
  }
}
