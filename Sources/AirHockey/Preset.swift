import CaromPhysics

/// The constants of the table, the discs and the rules, in meters, kilograms and seconds unless
/// stated otherwise. The table is that of the Air Hockey Challenge 2023.
public enum Preset {
  /// The distance from the table's center to a goal line, in meters.
  public static let halfLength = 0.974
  /// The distance from the table's center to a long rail, in meters.
  public static let halfWidth = 0.519
  /// The distance from the middle of a goal to a post, in meters.
  public static let goalHalfWidth = 0.125
  /// The puck's radius, in meters.
  public static let puckRadius = 0.03165
  /// The puck's mass, in kilograms.
  public static let puckMass = 0.010
  /// A mallet's radius, in meters.
  public static let malletRadius = 0.04815
  /// The drag of the air cushion, in 1/s: the rate at which the puck loses speed.
  public static let drag = 0.23
  /// The coefficient of restitution at rails and posts.
  public static let railRestitution = 0.93
  /// The coefficient of restitution between mallet and puck.
  public static let malletRestitution = 0.93
  /// The coefficient of friction at rails and posts.
  public static let railFriction = 0.12
  /// The maximum speed of the puck, in meters per second.
  public static let puckSpeedCap = 15.0
  /// The maximum speed of a mallet, in meters per second.
  public static let malletSpeedLimit = 7.5

  /// The number of ticks per second.
  public static let ticksPerSecond = 60
  /// The duration of a tick, in seconds.
  public static let step = 1.0 / 60
  /// The number of goals that win a match.
  public static let goalsToWin: UInt8 = 7
  /// The time for which a player may keep the puck in one half, in ticks: 7 s.
  public static let possessionTicks: UInt16 = 420
  /// The time that a player may take to serve, in ticks: 10 s.
  public static let serveTicks: UInt16 = 600
  /// The pause after a goal, in ticks: 1.5 s.
  public static let goalPauseTicks: UInt16 = 90
  /// The pause after a foul, in ticks: 1 s.
  public static let foulPauseTicks: UInt16 = 60
  /// The minimum wait before a face-off, in ticks: 1 s.
  public static let faceOffTicks: UInt16 = 60
  /// The maximum random addition to the wait before a face-off, in ticks: 2 s. The addition makes
  /// the release unpredictable to the players.
  public static let faceOffSpread: UInt16 = 120

  /// The distance of the puck from the center line at a serve, in meters.
  public static let serveDistance = 0.40
  /// The minimum distance of a mallet from the center line while the puck is out of play, in
  /// meters. It prevents the puck from being placed on a mallet.
  public static let waitingDistance = 0.55

  /// The table's dimensions, for the physics engine.
  public static let table = Table(
    halfLength: halfLength, halfWidth: halfWidth, goalHalfWidth: goalHalfWidth)

  static let solver = SingleDiscSolver(
    table: table,
    surface: Surface(
      railRestitution: railRestitution, discRestitution: malletRestitution,
      railFriction: railFriction, damping: Damping(drag: drag)),
    step: step, speedCap: puckSpeedCap)
}
