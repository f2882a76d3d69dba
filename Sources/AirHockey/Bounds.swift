import CaromPhysics

/// The bounds of the positions, velocities and spins of the puck and the mallets, in units of 2^-32
/// m, m/s or rad/s.
enum Bounds {
  static let puckX = Lattice.units(Preset.halfLength)
  static let puckY = Lattice.units(Preset.halfWidth - Preset.puckRadius)
  static let puckSpeed = Lattice.units(Preset.puckSpeedCap)
  /// The maximum magnitude of the puck's spin. Friction at a rail converts at most the puck's whole
  /// speed into spin, which gives 480 rad/s.
  static let puckSpin = Lattice.units(1_024)
  static let malletNearX = Lattice.units(Preset.malletRadius)
  static let malletFarX = Lattice.units(Preset.halfLength - Preset.malletRadius)
  static let malletY = Lattice.units(Preset.halfWidth - Preset.malletRadius)

  /// Returns the position of a mallet at the beginning of a match.
  static func start(of seat: Seat) -> LatticePoint {
    LatticePoint(Vector(seat.side * 0.75, 0))
  }

  /// Returns whether a mallet's position is within its half of the table.
  static func contains(mallet: LatticePoint, of seat: Seat) -> Bool {
    let half = seat == .home ? -malletFarX ... -malletNearX : malletNearX...malletFarX
    return half.contains(mallet.x) && (-malletY...malletY).contains(mallet.y)
  }

  /// Returns whether the puck is on the table and its velocity and spin are within their limits.
  static func contains(_ puck: PuckState) -> Bool {
    (-puckX...puckX).contains(puck.position.x) && (-puckY...puckY).contains(puck.position.y)
      && (-puckSpeed...puckSpeed).contains(puck.velocity.x)
      && (-puckSpeed...puckSpeed).contains(puck.velocity.y)
      && (-puckSpin...puckSpin).contains(puck.spin)
  }

  /// Returns the position nearest to `mallet` within the seat's half of the table.
  static func clamped(mallet: LatticePoint, of seat: Seat) -> LatticePoint {
    let forward = seat == .home ? -mallet.x : mallet.x
    let x = min(max(forward, malletNearX), malletFarX)
    return LatticePoint(
      x: seat == .home ? -x : x, y: min(max(mallet.y, -malletY), malletY))
  }

  /// Returns the puck's state, rounded to the units of the game state and clamped where rounding
  /// exceeded a bound.
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
