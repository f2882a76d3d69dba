import CaromCore
import CaromPhysics
import CaromSimulation

/// A client's or a spectator's side of a match over the network. It simulates the whole match.
///
/// A client's own mallet moves without delay. The puck and the opponent are predicted, and are
/// corrected when the host's inputs arrive; `shown(at:)` smooths the corrections. A spectator sees
/// only confirmed ticks.
public struct JoinedMatch: Sendable {
  /// The maximum number of ticks that `stepToConfirmed` simulates.
  static let finalStepLimit = 600

  private var client: RollbackClient<Rink>
  private var view = RinkView()
  /// This player's pending requests. One is carried out per tick.
  private var requests: [RinkInput.Request] = []
  private var writer = PacketWriter(capacity: 512)
  /// The distance by which corrections moved the puck in the last `step`, in meters.
  public private(set) var correction = 0.0
  /// The number of desyncs with the host. After each of them, the host sends the whole state again.
  public private(set) var desyncs = 0
  /// The report of the most recent desync with the host, or nil if there was none.
  public private(set) var lastDesync: DesyncReport?

  /// Creates a client or a spectator that has not received a state yet.
  public init(isSpectator: Bool = false, at now: Instant) {
    client = RollbackClient(
      player: isSpectator ? nil : 1, rate: Preset.ticksPerSecond, window: SimulationLimits.window,
      at: now)
  }

  /// The predicted state of the match, or nil before the host's first state has arrived.
  public var state: RinkState? { client.rollback?.state.state }
  /// The state after the last confirmed tick, or nil before the host's first state has arrived.
  public var confirmed: RinkState? {
    client.rollback.flatMap { $0.state(at: $0.confirmedTick)?.state }
  }
  /// The number of ticks by which `state` is ahead of `confirmed`.
  public var predictedTicks: Int {
    client.rollback.map { Int($0.confirmedTick.distance(to: $0.tick)) } ?? 0
  }
  /// The number and depth of rollbacks, and other statistics of the prediction. All are zero before
  /// the host's first state has arrived.
  public var statistics: RollbackStatistics { client.rollback?.statistics ?? .init() }
  /// The number of times that the host has sent the whole state: 1 unless there was a desync or the
  /// client fell too far behind.
  public var keyframeCount: Int { client.keyframeCount }
  /// The number of local inputs that reached the host too late, so that the host replaced them.
  public var overriddenInputs: Int { client.overriddenInputs }
  /// The simulation with its history of inputs and states, for a recorder to read. Nil before the
  /// host's first state has arrived.
  public var rollback: Rollback<Rink>? { client.rollback }

  /// Returns the predicted state with its corrections smoothed, for drawing at `now`. Returns nil
  /// before the host's first state has arrived.
  public func shown(at now: Instant) -> RinkState? { state.map { view.shown($0, at: now) } }

  // MARK: Time

  /// The time at which the next tick is due.
  public var nextTick: Instant { client.nextTick }

  /// Returns the number of ticks that have become due since the previous call. Call `step` once for
  /// each.
  public mutating func takeDueTicks(at now: Instant) -> Int { client.takeDueTicks(at: now) }

  /// Adapts the clock and the input delay to a new estimate of the round-trip time to the host.
  public mutating func updateRoundTrip(_ roundTrip: Duration) { client.roundTrip = roundTrip }

  // MARK: Playing

  /// Adds a request of this player. Each request is carried out in a separate tick.
  public mutating func request(_ request: RinkInput.Request) { requests.append(request) }

  /// Simulates one tick with the local input `mallet`, which is nil if the player is absent.
  /// `pollEvent` returns the events of the ticks that this step confirms.
  public mutating func step(_ mallet: MalletInput?, at now: Instant) {
    let isRequestDue = !requests.isEmpty && state != nil && !client.isInputPending
    let request = isRequestDue ? requests.removeFirst() : nil
    correction = 0
    // Only the state is kept: a copy of the simulation would make the next step copy its arrays.
    guard let tick = client.rollback?.tick, let old = state else {
      client.advance()
      return
    }
    client.advance(with: RinkInput(mallet, request: request))
    guard let new = client.rollback?.state(at: tick)?.state, new != old else { return }
    view.correct(from: old, to: new, at: now)
    correction = (new.puck.position.vector - old.puck.position.vector).length
  }

  /// Simulates all ticks whose inputs have arrived. Call this method at the end of a session.
  public mutating func stepToConfirmed(at now: Instant) {
    let behind = client.rollback.map { Int($0.tick.distance(to: $0.confirmableTick)) } ?? 0
    for _ in 0..<min(max(1, behind), Self.finalStepLimit) { step(nil, at: now) }
  }

  /// Removes and returns the next event of a confirmed tick, with the state after that tick.
  /// Returns nil if there is none.
  public mutating func pollEvent() -> (event: RinkEvent, state: RinkState)? {
    while let next = client.pollEvent() {
      guard case .confirmed(let event, let tick) = next,
        let state = client.rollback?.state(at: tick.next)?.state
      else { continue }
      return (event, state)
    }
    return nil
  }

  // MARK: Messages

  /// Handles a message from the host. Throws if the message is malformed, without applying any part
  /// of it.
  public mutating func receive(
    _ kind: RollbackMessage, _ bytes: Span<UInt8>, at now: Instant
  ) throws(DecodeError) {
    if kind == .keyframe {
      let keyframe = try RollbackKeyframe<Rink>(decoding: bytes)
      guard keyframe.game.state.tick == keyframe.tick else { throw .invalid(what: "tick") }
    }
    try client.receive(kind, bytes, at: now)
    while let desync = client.pollDesync() {
      desyncs += 1
      lastDesync = desync
    }
  }

  /// Returns the next message to send to the host. Returns nil if nothing is due before the next
  /// tick.
  public mutating func pollMessage() -> (kind: RollbackMessage, bytes: [UInt8])? {
    writer.removeAll()
    return client.pollTransmit(into: &writer).map { ($0, writer.bytes) }
  }
}
