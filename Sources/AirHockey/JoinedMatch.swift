import CaromCore
import CaromPhysics
import CaromSimulation

/// A guest's or a watcher's side of a table: the whole match runs here too.
///
/// A guest's mallet moves at once; the puck and the opponent are foretold, corrected when the
/// host's word comes, and drawn so that a correction is a glide. A watcher sees what is decided.
public struct JoinedMatch: Sendable {
  /// The longest round trip that is hidden by foretelling alone, ticks; what is beyond it delays
  /// the own inputs, so that the match never waits.
  static let window = SimulationLimits.window
  /// Ticks that the way takes beside the round trip: the buffer, and what loss adds.
  static let reserve = 8
  /// Where the match had to wait the own inputs are delayed by another tick, so often at most.
  static let raiseInterval = 15
  /// The most ticks that are made at the end.
  static let settleLimit = 600
  /// And by one less after so many ticks without.
  static let lowerInterval = 600

  private var client: RollbackClient<Rink>
  private var view = RinkView()
  /// What this player asks for, one a tick.
  private var requests: [RinkInput.Request] = []
  private var writer = PacketWriter(capacity: 512)
  /// What the round trip says of the delay, and what waiting has added to it.
  private var delay = (base: 0, more: 0)
  private var waits = (count: 0, since: 0)
  /// By how much corrections moved the puck, metres; those of the last `step`.
  public private(set) var correction = 0.0
  /// How many desyncs with the host were found; a new beginning mended each.
  public private(set) var desyncs = 0
  /// The last of them.
  public private(set) var lastDesync: DesyncReport?

  /// Somebody who has seen nothing yet.
  public init(isSpectator: Bool = false, at now: Instant) {
    client = RollbackClient(
      player: isSpectator ? nil : 1, rate: Preset.ticksPerSecond, window: Self.window, at: now)
  }

  /// The match as it is foretold; `nil` before the host's first word.
  public var state: RinkState? { client.rollback?.state.state }
  /// The match as far as it is decided.
  public var confirmed: RinkState? {
    client.rollback.flatMap { $0.state(at: $0.confirmedTick)?.state }
  }
  /// How many ticks of `state` are not decided yet.
  public var predictedTicks: Int {
    client.rollback.map { Int($0.confirmedTick.distance(to: $0.tick)) } ?? 0
  }
  /// What foretelling has cost.
  public var statistics: RollbackStatistics { client.rollback?.statistics ?? .init() }
  /// How often the host sent the whole match: 1 where nothing went wrong.
  public var beginnings: Int { client.keyframeCount }
  /// Own inputs that came to the host too late.
  public var overruled: Int { client.overriddenInputs }
  /// The simulation itself, for whoever records it.
  public var rollback: Rollback<Rink>? { client.rollback }

  /// What is drawn at `now`.
  public func shown(at now: Instant) -> RinkState? { state.map { view.shown($0, at: now) } }

  // MARK: Time

  /// When the next tick is due.
  public var nextTick: Instant { client.nextTick }

  /// How many ticks became due: `step` is to be called for each.
  public mutating func takeDueTicks(at now: Instant) -> Int { client.takeDueTicks(at: now) }

  /// The round trip to the host, whenever it is known anew.
  public mutating func note(roundTrip: Duration) {
    client.roundTrip = roundTrip
    let nanoseconds = max(0, roundTrip.wholeNanoseconds)
    let ticks = Int(min(nanoseconds / 1_000_000, 10_000)) * Preset.ticksPerSecond / 1_000
    let base = max(0, ticks + Self.reserve - Self.window)
    // It wanders with the round trip: back by a tick or two is not worth it.
    guard base > delay.base || base < delay.base - 2 else { return }
    delay.base = base
    delayInputs()
  }

  private mutating func delayInputs() {
    client.inputDelay = min(delay.base + delay.more, SimulationLimits.inputDelay)
  }

  /// A match that waits shows more and more of its player's mallet late: rather always a little.
  private mutating func noteWaits() {
    let count = statistics.stalls
    waits.since += 1
    if count != waits.count, waits.since >= Self.raiseInterval {
      waits = (count, 0)
      delay.more = min(delay.more + 1, SimulationLimits.inputDelay)
      delayInputs()
    } else if waits.since >= Self.lowerInterval, delay.more > 0 {
      waits.since = 0
      delay.more -= 1
      delayInputs()
    }
  }

  // MARK: Playing

  /// Asks for something: it happens in a tick of its own.
  public mutating func ask(_ request: RinkInput.Request) { requests.append(request) }

  /// Makes one tick, with the own mallet going there; what is decided now is in `pollEvent`.
  public mutating func step(_ mallet: MalletInput?, at now: Instant) {
    let request = requests.isEmpty || state == nil ? nil : requests.removeFirst()
    correction = 0
    // Not the whole simulation, whose arrays would be copied at the next step.
    guard let tick = client.rollback?.tick, let old = state else {
      client.advance()
      return
    }
    client.advance(with: RinkInput(mallet, request: request))
    noteWaits()
    guard let new = client.rollback?.state(at: tick)?.state, new != old else { return }
    view.correct(from: old, to: new, at: now)
    correction = (new.puck.position.vector - old.puck.position.vector).length
  }

  /// Makes every tick that is decided, where the match ends there.
  public mutating func settle(at now: Instant) {
    let behind = client.rollback.map { Int($0.tick.distance(to: $0.confirmableTick)) } ?? 0
    for _ in 0..<min(max(1, behind), Self.settleLimit) { step(nil, at: now) }
  }

  /// What happened, once it is decided; with the match as it stood after it.
  public mutating func pollEvent() -> (event: RinkEvent, state: RinkState)? {
    while let told = client.pollEvent() {
      guard case .confirmed(let event, let tick) = told,
        let state = client.rollback?.state(at: tick.next)?.state
      else { continue }
      return (event, state)
    }
    return nil
  }

  // MARK: Messages

  /// Takes a message of the host. What is wrong with it throws, and nothing of it counts.
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

  /// The next message for the host; `nil` when all is said until the next tick.
  public mutating func pollMessage() -> (kind: RollbackMessage, bytes: [UInt8])? {
    writer.removeAll()
    return client.pollTransmit(into: &writer).map { ($0, writer.bytes) }
  }
}
