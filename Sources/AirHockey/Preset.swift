import CaromPhysics

/// The table, the discs and the rules' figures: the research table of the Air Hockey Challenge
/// 2023, metres, kilograms and seconds.
public enum Preset {
  /// From the centre to a goal line.
  public static let halfLength = 0.974
  /// From the centre to a long rail.
  public static let halfWidth = 0.519
  /// From the middle of a goal mouth to a post.
  public static let goalHalfWidth = 0.125
  /// The puck's radius.
  public static let puckRadius = 0.03165
  /// The puck's mass.
  public static let puckMass = 0.010
  /// A mallet's radius.
  public static let malletRadius = 0.04815
  /// Drag on the air cushion, 1/s.
  public static let drag = 0.23
  /// Restitution at rails and posts.
  public static let railRestitution = 0.93
  /// Restitution between mallet and puck.
  public static let malletRestitution = 0.93
  /// Friction coefficient at rails and posts.
  public static let railFriction = 0.12
  /// The puck is never faster than this, metres a second.
  public static let puckSpeedCap = 15.0
  /// A mallet is never faster than this, metres a second.
  public static let malletSpeedLimit = 7.5

  /// Steps a second.
  public static let ticksPerSecond = 60
  /// The length of a step, seconds.
  public static let step = 1.0 / 60
  /// Goals that win a match.
  public static let goalsToWin: UInt8 = 7
  /// The time to send the puck over the centre line once it is on one's side: 7 s.
  public static let possessionTicks: UInt16 = 420
  /// The time to put the puck in play: 10 s.
  public static let serveTicks: UInt16 = 600
  /// The pause after a goal: 1.5 s.
  public static let goalPauseTicks: UInt16 = 90
  /// The pause after a foul: 1 s.
  public static let foulPauseTicks: UInt16 = 60
  /// The shortest wait for a face-off: 1 s.
  public static let faceOffTicks: UInt16 = 60
  /// What a face-off may wait longer, so that nobody knows when: up to 2 s.
  public static let faceOffSpread: UInt16 = 120

  /// How far from the centre line a puck lies for a serve.
  public static let serveDistance = 0.40
  /// Mallets stay at least this far from the centre line while the puck is out of play, so that a
  /// puck is never placed on a mallet.
  public static let waitingDistance = 0.55

  /// The table of the physics.
  public static let table = Table(
    halfLength: halfLength, halfWidth: halfWidth, goalHalfWidth: goalHalfWidth)

  static let solver = SingleDiscSolver(
    table: table,
    surface: Surface(
      railRestitution: railRestitution, discRestitution: malletRestitution,
      railFriction: railFriction, damping: Damping(drag: drag)),
    step: step, speedCap: puckSpeedCap)
}
