import CaromCore

/// A game in step between peers without a server: each sends its inputs to each other one,
/// foretells what has not come, and corrects what it foretold wrongly.
///
/// A polled machine: `receive` what comes, make the ticks that `takeDueTicks` counts with `advance`,
/// and send what `pollTransmit` has. All peers begin with the same state at the same tick, at about
/// the same time; their clocks find each other by running up to 5 % faster or slower.
public struct RollbackSession<Game: Simulation>: Sendable {
  /// What is to be sent.
  public struct Transmit: Hashable, Sendable {
    /// To which player.
    public var player: Int
    /// What it is.
    public var message: RollbackMessage
  }

  /// Timing goes into each packet until the clocks know each other, then into every so many.
  static var timingInterval: Int { 4 }

  /// How this session plays.
  public let configuration: RollbackConfiguration
  /// The simulation, running ahead of what is known.
  public internal(set) var rollback: Rollback<Game>
  /// How many ticks after it was given an input counts; it can be changed at any time.
  public private(set) var inputDelay: Int
  var peers: [RollbackPeer]
  var coder = InputCoder<Game.Input>()
  var desyncs = Deque<DesyncReport>()
  /// Of each player who is gone, how far the others are with agreeing on its last input.
  var votes: [DisconnectVote?]
  /// Whether the others took this player for gone and play on without it.
  public internal(set) var isDisconnected = false
  /// Inputs that were given and have no tick yet.
  private var pending: Game.Input?
  private var pace: ClockPace
  private var lastCheck: Tick

  /// Begins at `now`: the first tick is due one tick later.
  public init(_ game: Game, _ configuration: RollbackConfiguration, at now: Instant) {
    self.configuration = configuration
    rollback = Rollback(
      game, players: configuration.players, window: configuration.window, at: configuration.start)
    inputDelay = configuration.inputDelay
    peers = (0..<configuration.players).map { _ in RollbackPeer(from: configuration.start) }
    votes = Array(repeating: nil, count: configuration.players)
    pace = ClockPace(rate: configuration.rate, from: now)
    lastCheck = configuration.start
  }

  // MARK: Time

  /// How many ticks became due: `advance` is to be called for each.
  public mutating func takeDueTicks(at now: Instant) -> Int {
    pace.setSpeed(ClockSync.speed(lead: lead, rate: configuration.rate), at: now)
    return pace.advance(to: now).due
  }

  /// When the next tick is due.
  public var nextTick: Instant { pace.nextTick }
  /// How far `now` lies between two ticks, 0 to 1: for drawing.
  public func fraction(at now: Instant) -> Double { pace.fraction(at: now) }
  /// By how many ticks this peer is ahead of the others, on average.
  public var lead: Double {
    var sum = 0.0
    var count = 0
    for player in peers.indices where isPeer(player) && peers[player].sync.lead != 0 {
      sum += peers[player].sync.lead
      count += 1
    }
    return count == 0 ? 0 : sum / Double(count)
  }
  /// The clock's speed, millionths.
  public var speed: Int { pace.speed }
  /// When a player was heard last.
  public func lastHeard(_ player: Int) -> Instant? { peers[player].heard }

  // MARK: Playing

  /// The state to be drawn.
  public var state: Game { rollback.state }

  /// Makes a tick with the local player's input, or waits where the window is used up; the input is
  /// then kept for the next.
  @discardableResult
  public mutating func advance(with input: Game.Input) -> Rollback<Game>.Outcome {
    pending = pending?.merged(with: input) ?? input
    giveInputs()
    let outcome = rollback.advance()
    checkConfirmed()
    for player in peers.indices where isPeer(player) {
      peers[player].isInputDue = true
      peers[player].detector.tick()
    }
    for player in votes.indices { votes[player]?.tick() }
    return outcome
  }

  /// Changes the input delay: no input is lost or made twice by that. What happens once is kept;
  /// a longer delay holds the last input meanwhile.
  public mutating func setInputDelay(_ ticks: Int) {
    precondition(
      (0...SimulationLimits.inputDelay).contains(ticks), "an input delay of 0 to 30 ticks")
    inputDelay = ticks
  }

  /// Changes how many ticks may be made without the inputs of all: 0 to 30.
  public mutating func setWindow(_ ticks: Int) {
    precondition((0...SimulationLimits.window).contains(ticks), "a window of 0 to 30 ticks")
    rollback.window = ticks
  }

  /// A player is gone: the peers tell each other its last inputs, and go on without it from the
  /// same tick. One peer that calls this is enough; it cannot be undone.
  public mutating func disconnect(player: Int) {
    precondition(peers.indices.contains(player) && player != configuration.local, "another player")
    beginDisconnect(of: player)
  }

  /// The next thing that happened in the game.
  public mutating func pollEvent() -> RollbackEvent<Game.Event>? { rollback.pollEvent() }

  /// The next desync that was found, once for each peer.
  public mutating func pollDesync() -> DesyncReport? {
    desyncs.popFirst()
  }

  /// Whether the player is somebody else who plays still.
  func isPeer(_ player: Int) -> Bool {
    player != configuration.local && votes[player] == nil
  }

  private mutating func giveInputs() {
    let target = rollback.tick.advanced(by: Int64(inputDelay))
    let own = configuration.local
    while rollback.buffers[own].end < target {
      rollback.addInput(rollback.buffers[own].input(at: target), for: own)
    }
    guard rollback.buffers[own].end == target, let input = pending else { return }
    rollback.addInput(input, for: own)
    pending = nil
  }

  /// Looks whether the newly confirmed ticks have the hashes that others told.
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
