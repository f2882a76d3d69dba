import CaromCore

/// A player's or spectator's side of a match, connected to a `RollbackServer` or a
/// `RollbackBroadcaster`. It starts from a keyframe, which may be sent at any time during the
/// match.
///
/// A player's game runs ahead of the server's by half a round trip plus a small buffer. The
/// player's own inputs apply immediately; the server's confirmation of all inputs follows. A
/// spectator's game follows the confirmed inputs, and catches up quickly after falling behind.
public struct RollbackClient<Game: Simulation & PacketCodable>: Sendable {
  /// The maximum number of extra ticks that a client simulates per call to catch up.
  public static var catchUpLimit: Int { 60 }
  /// The number of ticks by which a game may seem to be late only because packets arrive unevenly.
  static var jitterLimit: Int { 4 }
  /// The number of ticks by which the first inputs should arrive early, before the server has
  /// reported how much their arrival varies.
  private static var startingLead: Int { 2 }

  /// The player that this client controls. It is nil for a spectator, and for a client to which the
  /// server has not assigned a seat yet.
  public internal(set) var player: Int?
  /// Whether the client knows its seat: the player that it controls, or that it is a spectator.
  public internal(set) var isSeated: Bool
  /// The number of ticks that a spectator stays behind the newest confirmed tick, so that packet
  /// loss does not interrupt the view.
  public var delay: Int
  /// The round-trip time to the server, as measured by the transport. It determines how far ahead
  /// of the server the game starts and, if `adaptsInputDelay` is set, the input delay.
  public var roundTrip = Duration.zero {
    didSet { adapter.update(roundTrip: roundTrip, rate: rate, window: window) }
  }
  /// The game, or nil before the first keyframe.
  public internal(set) var rollback: Rollback<Game>?
  /// Controls how far this client's clock runs ahead of the server's clock.
  public internal(set) var lead = ClockLead()
  /// The number of ticks per second.
  public internal(set) var rate: Int
  /// The prediction window in ticks; 0 for a spectator.
  package internal(set) var window: Int
  /// The least number of ticks between entering an input and the tick at which it applies, 0 to 30.
  /// It can be changed at any time. A longer delay applies at once. The delay decreases by one tick
  /// at a time, so that no input reaches the server too late.
  public var inputDelay: Int {
    didSet { Self.check(inputDelay) }
  }
  /// Whether the input delay grows beyond `inputDelay` when the game stalls or when the prediction
  /// window does not hide the whole round trip. If this is false, the inputs of a client on a long
  /// path reach the server too late.
  public var adaptsInputDelay = true
  var adapter = InputDelayAdapter()
  private var effectiveDelay = EffectiveInputDelay()
  private var meter = LateInputMeter()
  /// The value of `overriddenInputs` at the last tick.
  private var meteredInputs = 0
  var pace: ClockPace
  var coder = InputCoder<Game.Input>()
  var detector = DesyncDetector()
  var desyncs = Deque<DesyncReport>()
  /// The tick whose input the server needs next.
  var acknowledged = Tick.zero
  var pending: Game.Input?
  var isInputDue = false
  /// Whether the server has not yet reported on the timing of this client's inputs.
  var isUntimed = true
  /// The number of extra ticks that make up for the late arrival of the first inputs. The next call
  /// to `takeDueTicks(at:)` adds them to its result.
  var lateTicks = 0
  /// The number of extra ticks that `takeDueTicks(at:)` has returned since the keyframe, before the
  /// server's first timing report. That report may describe inputs from before these ticks.
  var extraTicks = 0
  var isRequestDue = false
  var unusable = 0
  /// The decoded runs of a packet, before any of them is stored.
  var runs: [[Game.Input]] = []
  var lastCheck = Tick.zero
  /// The number of times that the game was started or restarted from a keyframe.
  public private(set) var keyframeCount = 0
  /// The number of local inputs that the server replaced.
  public internal(set) var overriddenInputs = 0

  /// Creates a client that waits for its seat and its first keyframe. A `RollbackHost` sends both.
  public init(
    window: Int = SimulationLimits.window, inputDelay: Int = 0, delay: Int = 3, at now: Instant
  ) {
    self.init(player: nil, window: window, inputDelay: inputDelay, delay: delay, at: now)
    self.window = window
    isSeated = false
  }

  /// Creates a client that controls `player`, or is a spectator if `player` is nil, and waits for
  /// its first keyframe.
  ///
  /// - Parameters:
  ///   - player: The player that this client controls, or nil for a spectator.
  ///   - rate: The number of ticks per second, the same as on the server.
  ///   - window: The prediction window, 0 to 30 ticks. A spectator predicts nothing.
  ///   - inputDelay: The least input delay, 0 to 30 ticks.
  ///   - delay: The number of ticks that a spectator stays behind the newest confirmed tick.
  ///   - now: The current time, at which the client's tick clock starts.
  public init(
    player: Int?, rate: Int = 60, window: Int = 20, inputDelay: Int = 0, delay: Int = 3,
    at now: Instant
  ) {
    precondition(
      (0...SimulationLimits.window).contains(window), "the prediction window must be 0 to 30 ticks")
    Self.check(inputDelay)
    self.player = player
    isSeated = true
    self.rate = rate
    self.window = player == nil ? 0 : window
    self.inputDelay = inputDelay
    self.delay = delay
    pace = ClockPace(rate: rate, from: now)
  }

  private static func check(_ inputDelay: Int) {
    precondition(
      (0...SimulationLimits.inputDelay).contains(inputDelay),
      "the input delay must be 0 to 30 ticks")
  }

  // MARK: Time

  /// Returns the number of ticks that have become due since the previous call. Call
  /// `advance(with:)` once for each.
  public mutating func takeDueTicks(at now: Instant) -> Int {
    pace.setSpeed(player == nil ? spectatorSpeed : lead.speed(rate: rate), at: now)
    let due = pace.advance(to: now).due
    guard let behind = ticksBehind else { return due }
    guard player == nil else { return due + takeExtraTicks(behind) }
    return behind > delay + 30 ? min(behind - delay, Self.catchUpLimit) : due
  }

  /// Returns the number of extra ticks that a player's game needs to be far enough ahead of the
  /// confirmed tick. If the clock only ran faster instead, inputs would arrive late for seconds.
  ///
  /// A keyframe that was lost and sent again is old when it arrives, so the game starts too late.
  /// The server's first timing report shows this only after another round trip. Until then, the
  /// number of missing ticks is calculated from the distance to the confirmed tick.
  private mutating func takeExtraTicks(_ behind: Int) -> Int {
    let missing = behind + min(roundTripTicks, window)
    guard behind > 0 || isUntimed && missing > Self.jitterLimit else {
      defer { lateTicks = 0 }
      return min(lateTicks, Self.catchUpLimit)
    }
    let extra = min(missing, Self.catchUpLimit)
    if isUntimed { extraTicks += extra }
    lateTicks = 0
    return extra
  }

  /// Returns the number of ticks to simulate at once after the first keyframe, which arrived at
  /// `arrival` but could not be processed until `now`. They make up for the delay, and let the
  /// first inputs arrive early, as far as the prediction window permits. `takeDueTicks(at:)` may
  /// count the same delay, so the larger of the two numbers is due, not their sum.
  package func startingTicks(since arrival: Instant, at now: Instant) -> Int {
    let waited = min((now - arrival).wholeNanoseconds, 1_000_000_000)
    let late = Int(waited * Int64(rate) / 1_000_000_000)
    return min(late + Self.startingLead, max(0, window - predictedTicks))
  }

  /// The time at which the next tick is due.
  public var nextTick: Instant { pace.nextTick }
  /// Returns the position of `now` between the last tick and the next, from 0 to 1.
  public func fraction(at now: Instant) -> Double { pace.fraction(at: now) }
  /// The clock's speed in parts per million of real time.
  public var speed: Int { pace.speed }

  /// The number of confirmed ticks that have not been simulated yet, or nil before the first
  /// keyframe.
  public var ticksBehind: Int? {
    rollback.map { Int($0.tick.distance(to: $0.confirmableTick)) }
  }

  /// The round-trip time in ticks, rounded up, plus one.
  private var roundTripTicks: Int {
    let nanoseconds = min(max(roundTrip.wholeNanoseconds, 0), 1_000_000_000)
    return Int((nanoseconds * Int64(rate) + 999_999_999) / 1_000_000_000) + 1
  }

  /// The client requests a keyframe after it has received this many input packets in a row that it
  /// cannot use, because it has no keyframe or a different one. The limit allows two round trips
  /// for a keyframe that is on its way, since one that is lost has to be sent again. An earlier
  /// request would only restart the game once more.
  var unusableLimit: Int { 30 + 2 * (roundTripTicks - 1) }

  private var spectatorSpeed: Int {
    ticksBehind.map { ClockSync.speed(lead: Double(delay - $0), rate: rate) } ?? 1_000_000
  }

  // MARK: Playing

  /// Whether an input is waiting to be assigned to a tick, because the game stalls or the input
  /// delay has become shorter. The next input is merged with the waiting one: a one-time action
  /// that must not be merged with another can wait until this is false.
  public var isInputPending: Bool { pending != nil }

  /// The state to draw, or nil before the first keyframe.
  public var state: Game? { rollback?.state }
  /// The state after the last confirmed tick, or nil before the first keyframe.
  public var confirmedState: Game? { rollback.flatMap { $0.state(at: $0.confirmedTick) } }
  /// The number of ticks by which `state` is ahead of `confirmedState`; 0 before the first
  /// keyframe.
  public var predictedTicks: Int {
    rollback.map { Int($0.confirmedTick.distance(to: $0.tick)) } ?? 0
  }

  /// Simulates a tick with the player's input, which is ignored for a spectator. Returns whether
  /// the tick was simulated, or nil before the first keyframe.
  @discardableResult
  public mutating func advance(with input: Game.Input = Game.Input()) -> Rollback<Game>.Outcome? {
    isInputDue = true
    guard rollback != nil else {
      isRequestDue = isRequestDue || unusable >= unusableLimit
      return nil
    }
    if player != nil {
      let next = pending?.merged(with: input) ?? input
      effectiveDelay.follow(wantedInputDelay, &lead, roundTrip: roundTripTicks)
      let delay = currentInputDelay
      pending = rollback?.addLocalInput(next, delay: delay) == true ? nil : next
      lead.tick()
    }
    let outcome = rollback?.advance()
    checkConfirmed()
    detector.tick()
    adaptToTick()
    return outcome
  }

  /// The number of ticks between entering an input now and the tick at which it applies.
  public var currentInputDelay: Int { max(effectiveDelay.ticks, wantedInputDelay) }

  private var wantedInputDelay: Int {
    adaptsInputDelay ? adapter.delay(atLeast: inputDelay) : inputDelay
  }

  /// Whether the server replaced at least half of the player's inputs in the last second because
  /// they arrived late.
  public var areInputsLate: Bool { meter.isLate }

  private mutating func adaptToTick() {
    guard player != nil, let stalls = rollback?.statistics.stalls else { return }
    adapter.tick(stalls: stalls)
    meter.recordTick(lateInputs: overriddenInputs - meteredInputs, rate: rate)
    meteredInputs = overriddenInputs
  }

  /// Removes and returns the next event of the game, or nil if there is none.
  public mutating func pollEvent() -> RollbackEvent<Game.Event>? { rollback?.pollEvent() }
  /// Removes and returns the next report of a desync with the server, or nil if there is none. The
  /// client recovers from a desync by requesting a keyframe.
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

  /// Restarts the game from a keyframe.
  mutating func begin(_ keyframe: RollbackKeyframe<Game>) {
    keyframeCount += 1
    let own = rollback?.localInputs
    rollback = Rollback(
      keyframe.game, players: keyframe.players, window: window, at: keyframe.tick, local: player)
    // Keep the local inputs that the server has not acknowledged and that still apply.
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
    (lateTicks, extraTicks) = (0, 0)
    adapter.restart()
    guard player != nil else { return }
    // The server is half a round trip ahead of the keyframe, and inputs take as long to reach it.
    let made = rollback?.localInputs.map { Int(keyframe.tick.distance(to: $0.end)) } ?? 0
    for _ in 0..<min(max(roundTripTicks, made), window) { advance() }
    pending = nil
  }
}
