import CaromCore

/// A match between peers without a server. Each peer sends its inputs to all others, predicts the
/// inputs that have not arrived, and rolls back when a prediction was wrong.
///
/// A session is a polled state machine: call `receive` for each message, `advance(with:)` for each
/// tick that `takeDueTicks(at:)` returns, and `pollTransmit(into:)` until it returns nil. All peers
/// must start with the same state at the same tick, at about the same time. Their clocks then
/// synchronize by running up to 5 % faster or slower.
public struct RollbackSession<Game: Simulation>: Sendable {
  /// The recipient and the kind of a message to send.
  public struct Transmit: Hashable, Sendable {
    /// The player to send the message to.
    public var player: Int
    /// The kind of the message. The message does not contain its kind, so send the kind along with
    /// it.
    public var message: RollbackMessage
  }

  /// The interval, in packets, at which timing is sent once the clocks are synchronized. Until
  /// then, every packet carries it.
  static var timingInterval: Int { 4 }

  /// The session's configuration.
  public let configuration: RollbackConfiguration
  /// The simulation, which runs ahead of the confirmed inputs.
  public internal(set) var rollback: Rollback<Game>
  /// The least number of ticks between entering an input and the tick at which it applies, 0 to 30.
  public private(set) var inputDelay: Int
  var peers: [RollbackPeer]
  var coder = InputCoder<Game.Input>()
  var desyncs = Deque<DesyncReport>()
  /// The vote on the last input of each player, indexed by player; nil for a player who is not
  /// being disconnected.
  var votes: [DisconnectVote?]
  /// The returns, indexed by player, that this peer accepts once the peers have agreed on the
  /// player's last input; nil for a player without such a return.
  var awaitedReturns: [PlayerReturn?]
  /// Whether the other peers disconnected the local player and continue without it.
  public internal(set) var isDisconnected = false
  /// Whether the input delay grows beyond `inputDelay` when the game stalls or when the prediction
  /// window does not hide the latency of the other peers.
  public var adaptsInputDelay = false
  var adapter = InputDelayAdapter()
  private var meter = LateInputMeter()
  /// The merged inputs that have been entered but not yet assigned to a tick. Nil if there are
  /// none.
  private var pending: Game.Input?
  private var pace: ClockPace
  private var lastCheck: Tick

  /// Creates a session that starts with `game` at `now`. The first tick is due one tick later.
  public init(_ game: Game, _ configuration: RollbackConfiguration, at now: Instant) {
    self.configuration = configuration
    rollback = Rollback(
      game, players: configuration.players, window: configuration.window, at: configuration.start)
    inputDelay = configuration.inputDelay
    peers = (0..<configuration.players).map { _ in RollbackPeer(from: configuration.start) }
    votes = Array(repeating: nil, count: configuration.players)
    awaitedReturns = Array(repeating: nil, count: configuration.players)
    pace = ClockPace(rate: configuration.rate, from: now)
    lastCheck = configuration.start
  }

  // MARK: Time

  /// Returns the number of ticks that have become due since the previous call. Call
  /// `advance(with:)` once for each.
  public mutating func takeDueTicks(at now: Instant) -> Int {
    pace.setSpeed(ClockSync.speed(lead: lead, rate: configuration.rate), at: now)
    return pace.advance(to: now).due
  }

  /// The time at which the next tick is due.
  public var nextTick: Instant { pace.nextTick }
  /// Returns the position of `now` between the last tick and the next, from 0 to 1, for drawing.
  public func fraction(at now: Instant) -> Double { pace.fraction(at: now) }
  /// How far this peer's clock is ahead of the other peers' clocks on average, in ticks. It is 0
  /// until an offset has been measured.
  public var lead: Double {
    var sum = 0.0
    var count = 0
    for player in peers.indices where isPeer(player) {
      guard let offset = peers[player].sync.offset else { continue }
      sum += offset
      count += 1
    }
    return count == 0 ? 0 : sum / Double(count)
  }
  /// The clock's speed in parts per million of real time.
  public var speed: Int { pace.speed }
  /// Returns the time at which the last message from a player arrived, or nil if none has.
  public func lastHeard(_ player: Int) -> Instant? { peers[player].lastHeard }

  // MARK: Playing

  /// The state to draw.
  public var state: Game { rollback.state }

  /// Simulates a tick with the local player's input, or stalls if the prediction window is
  /// exhausted. Returns which of the two happened. In a stall, the input is kept and merged with
  /// that of the next tick.
  @discardableResult
  public mutating func advance(with input: Game.Input) -> Rollback<Game>.Outcome {
    pending = pending?.merged(with: input) ?? input
    scheduleInputs()
    let outcome = rollback.advance()
    meter.recordTick(lateInputs: outcome == .stalled ? 1 : 0, rate: configuration.rate)
    adaptInputDelay()
    checkConfirmed()
    for player in peers.indices where isPeer(player) {
      peers[player].isInputDue = true
      peers[player].detector.tick()
    }
    for player in votes.indices { votes[player]?.tick() }
    return outcome
  }

  /// The number of ticks between entering an input now and the tick at which it applies.
  public var currentInputDelay: Int {
    adaptsInputDelay ? adapter.delay(atLeast: inputDelay) : inputDelay
  }

  /// Whether the game stalled in at least half of the ticks in the last second, because inputs from
  /// another peer were missing.
  public var isStalling: Bool { meter.isLate }

  private mutating func adaptInputDelay() {
    var latency = 0.0
    for player in peers.indices where isPeer(player) {
      latency = max(latency, peers[player].sync.advantage)
    }
    adapter.update(latency: Int(min(latency, 1_000)), window: rollback.window)
    adapter.tick(stalls: rollback.statistics.stalls)
  }

  /// Changes the input delay without losing or repeating a one-time action. Shortening the delay
  /// merges inputs; lengthening it fills the ticks in between with the `held` form of the last
  /// input.
  public mutating func setInputDelay(_ ticks: Int) {
    precondition(
      (0...SimulationLimits.inputDelay).contains(ticks), "the input delay must be 0 to 30 ticks")
    inputDelay = ticks
  }

  /// Changes the prediction window. `ticks` must be from 0 to 30.
  public mutating func setWindow(_ ticks: Int) {
    precondition(
      (0...SimulationLimits.window).contains(ticks), "the prediction window must be 0 to 30 ticks")
    rollback.window = ticks
  }

  /// Removes a player who has stopped responding. The peers exchange the player's last inputs, and
  /// all continue without the player from the same tick. A call on one peer suffices.
  public mutating func disconnect(player: Int) {
    precondition(
      peers.indices.contains(player) && player != configuration.local,
      "only a remote player can be disconnected")
    beginDisconnect(of: player)
  }

  /// Removes and returns the next event of the game, or nil if there is none.
  public mutating func pollEvent() -> RollbackEvent<Game.Event>? { rollback.pollEvent() }

  /// Removes and returns the next desync report, or nil if there is none. There is at most one
  /// report for each peer.
  public mutating func pollDesync() -> DesyncReport? {
    desyncs.popFirst()
  }

  /// Returns whether the player is remote and has not been disconnected.
  func isPeer(_ player: Int) -> Bool {
    player != configuration.local && votes[player] == nil
  }

  private mutating func scheduleInputs() {
    let target = rollback.tick.advanced(by: Int64(currentInputDelay))
    let own = configuration.local
    while rollback.buffers[own].end < target {
      rollback.addInput(rollback.buffers[own].input(at: target), for: own)
    }
    guard rollback.buffers[own].end == target, let input = pending else { return }
    rollback.addInput(input, for: own)
    pending = nil
  }

  /// Compares the hashes of newly confirmed ticks with the hashes that the peers have sent.
  private mutating func checkConfirmed() {
    guard configuration.detectsDesync else { return }
    while lastCheck < rollback.hashedThrough {
      lastCheck = lastCheck.next
      guard let hash = rollback.hash(at: lastCheck) else { continue }
      for player in peers.indices where isPeer(player) {
        peers[player].detector.confirm(lastCheck, hash: hash)
      }
    }
  }
}
