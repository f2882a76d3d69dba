import CaromCore

/// A player's or a client's side of a `RollbackServer` or a `RollbackBroadcaster`: it begins with a
/// keyframe, at any time, and runs from there.
///
/// A player's game runs ahead of the server's by half a round trip and a small buffer; its own
/// inputs count at once, and the server's word on all inputs comes later. A client's game follows
/// what is decided, and catches up quickly where it has fallen behind.
public struct RollbackClient<Game: Simulation & PacketCodable>: Sendable {
  /// What is to be sent to the server is of this kind.
  public typealias Message = RollbackMessage

  /// The most ticks that a client makes at once to catch up: 60 s in a second at 60 Hz.
  public static var catchUpLimit: Int { 60 }
  /// Packets that cannot be used before a keyframe is asked for again.
  static var patience: Int { 30 }

  /// Whose player this is; nobody's where it only watches.
  public let player: Int?
  /// How many ticks a client stays behind what is known, so that loss does not stop it.
  public var delay: Int
  /// What the session measured: how far ahead the game jumps at the beginning.
  public var roundTrip = Duration.zero
  /// The game; `nil` before the first keyframe.
  public internal(set) var rollback: Rollback<Game>?
  /// How far ahead of the server this clock is.
  public internal(set) var lead = ClockLead()
  let rate: Int
  let window: Int
  /// How many ticks after it was given an input counts, 0 to 30: what the way takes beyond the
  /// window has to be hidden there. It can be changed at any time.
  public var inputDelay: Int {
    didSet { Self.check(inputDelay) }
  }
  var pace: ClockPace
  var coder = InputCoder<Game.Input>()
  var detector = DesyncDetector()
  var desyncs = Deque<DesyncReport>()
  /// The tick whose input the server needs next.
  var acknowledged = Tick.zero
  var pending: Game.Input?
  var isInputDue = false
  /// Whether the server has not said yet how its inputs come.
  var isUntimed = true
  /// By how many ticks its first inputs came too late: they are made up for at once.
  var lateTicks = 0
  var isRequestDue = false
  var unusable = 0
  /// The runs of a packet, before anything is kept of it.
  var runs: [[Game.Input]] = []
  var lastCheck = Tick.zero
  /// How many keyframes it began with.
  public private(set) var keyframeCount = 0
  /// Own inputs that were decided otherwise than they were sent.
  public internal(set) var overriddenInputs = 0

  /// A client that waits for its keyframe.
  public init(
    player: Int?, rate: Int = 60, window: Int = 20, inputDelay: Int = 0, delay: Int = 3,
    at now: Instant
  ) {
    precondition((0...SimulationLimits.window).contains(window), "a window of 0 to 30 ticks")
    Self.check(inputDelay)
    self.player = player
    self.rate = rate
    self.window = player == nil ? 0 : window
    self.inputDelay = inputDelay
    self.delay = delay
    pace = ClockPace(rate: rate, from: now)
  }

  private static func check(_ inputDelay: Int) {
    precondition(
      (0...SimulationLimits.inputDelay).contains(inputDelay), "an input delay of 0 to 30 ticks")
  }

  // MARK: Time

  /// How many ticks became due: `advance` is to be called for each.
  public mutating func takeDueTicks(at now: Instant) -> Int {
    pace.setSpeed(player == nil ? watchingSpeed : lead.speed(rate: rate), at: now)
    let due = pace.advance(to: now).due
    guard let behind = ticksBehind else { return due }
    guard player == nil else {
      // Whose game is behind what is decided began late: its inputs would be late for seconds.
      let late = behind > 0 ? behind + wayTicks : lateTicks
      lateTicks = 0
      return due + min(late, Self.catchUpLimit)
    }
    return behind > delay + 30 ? min(behind - delay, Self.catchUpLimit) : due
  }

  /// When the next tick is due.
  public var nextTick: Instant { pace.nextTick }
  /// How far `now` lies between two ticks, 0 to 1.
  public func fraction(at now: Instant) -> Double { pace.fraction(at: now) }
  /// The clock's speed, millionths.
  public var speed: Int { pace.speed }

  /// How many decided ticks a client has not made yet.
  public var ticksBehind: Int? {
    rollback.map { Int($0.tick.distance(to: $0.confirmableTick)) }
  }

  /// The ticks of a round trip, and one.
  private var wayTicks: Int {
    let way = min(max(roundTrip.wholeNanoseconds, 0), 1_000_000_000) * Int64(rate)
    return Int((way + 999_999_999) / 1_000_000_000) + 1
  }

  private var watchingSpeed: Int {
    ticksBehind.map { ClockSync.speed(lead: Double(delay - $0), rate: rate) } ?? 1_000_000
  }

  // MARK: Playing

  /// The state to be drawn.
  public var state: Game? { rollback?.state }

  /// Makes a tick with the player's input; a client's counts for nothing.
  @discardableResult
  public mutating func advance(with input: Game.Input = Game.Input()) -> Rollback<Game>.Outcome? {
    isInputDue = true
    guard rollback != nil else {
      isRequestDue = isRequestDue || unusable >= Self.patience
      return nil
    }
    if player != nil {
      let next = pending?.merged(with: input) ?? input
      let delay = inputDelay
      pending = rollback?.addLocalInput(next, delay: delay) == true ? nil : next
      lead.tick()
    }
    let outcome = rollback?.advance()
    checkConfirmed()
    detector.tick()
    return outcome
  }

  /// The next thing that happened in the game.
  public mutating func pollEvent() -> RollbackEvent<Game.Event>? { rollback?.pollEvent() }
  /// The next desync with the server; a keyframe mends it.
  public mutating func pollDesync() -> DesyncReport? {
    desyncs.popFirst()
  }

  private mutating func checkConfirmed() {
    guard let through = rollback?.hashedThrough else { return }
    while lastCheck < through {
      lastCheck = lastCheck.next
      if let hash = rollback?.hash(at: lastCheck) { detector.confirm(lastCheck, hash: hash) }
    }
  }

  /// Begins anew with a keyframe.
  mutating func begin(_ keyframe: RollbackKeyframe<Game>) {
    keyframeCount += 1
    let own = rollback?.localInputs
    rollback = Rollback(
      keyframe.game, players: keyframe.players, window: window, at: keyframe.tick, local: player)
    // What the server has not had yet of inputs that still count goes on.
    if let own, own.end >= keyframe.tick, own.oldest <= keyframe.tick {
      rollback?.localInputs = own
    } else {
      acknowledged = keyframe.tick
    }
    runs = Array(repeating: [], count: keyframe.players)
    lastCheck = keyframe.tick
    detector = DesyncDetector()
    unusable = 0
    isRequestDue = false
    isInputDue = true
    isUntimed = true
    lateTicks = 0
    guard player != nil else { return }
    // The server is half a round trip further on, and the inputs take as long to it.
    let made = rollback?.localInputs.map { Int(keyframe.tick.distance(to: $0.end)) } ?? 0
    for _ in 0..<min(max(wayTicks, made), window) { advance() }
    pending = nil
  }
}
