import CaromPhysics
import CaromSimulation

/// The simulation of an air hockey match.
///
/// A rink is a plain value, so copying it saves the match. The same state and the same inputs give
/// the same bits on every machine. A step allocates no memory.
public struct Rink: Hashable, Sendable {
  /// The current state of the match.
  public private(set) var state: RinkState

  /// Creates the match with the given number, before its face-off.
  public init(match: UInt16 = 1) { state = RinkState(match: match) }

  /// Creates a match that continues from `state`.
  public init(_ state: RinkState) { self.state = state }

  /// The hash of the state; see `RinkState.hash`.
  public var hash: UInt64 { state.hash }

  /// Simulates one tick, and returns its events. While the match is paused, only the tick's number
  /// changes.
  public mutating func step(home: MalletInput, away: MalletInput) -> RinkEvents {
    state.tick = state.tick.next
    var events = RinkEvents()
    guard !state.isPaused else { return events }
    if state.phase.isLive {
      play(home, away, &events)
    } else {
      moveMallets(home, away)
    }
    if events.goal == nil { advancePhase(&events) }
    return events
  }

  /// Carries out a player's command. Call this method between two steps. Returns false if the
  /// command has no effect.
  @discardableResult
  public mutating func apply(_ command: RinkCommand) -> Bool {
    let before = state
    switch command {
    case .pause(let seat): state.pauses.insert(.of(seat))
    case .resume(let seat): state.pauses.remove(.of(seat))
    case .startMatch:
      guard case .matchEnd = state.phase else { return false }
      let pauses = state.pauses
      startMatch()
      state.pauses = pauses
    }
    return state != before
  }

  /// Begins the next match immediately, at 0-0 and without pauses. The tick's number and the
  /// mallets remain unchanged.
  public mutating func startMatch() {
    var next = RinkState(match: state.match &+ 1, tick: state.tick)
    next.homeMallet = state.homeMallet
    next.awayMallet = state.awayMallet
    state = next
  }

  // MARK: - Physics

  private mutating func play(
    _ home: MalletInput, _ away: MalletInput, _ events: inout RinkEvents
  ) {
    var puck = Disc(
      position: state.puck.position.vector, velocity: state.puck.velocity.vector,
      spin: Lattice.value(state.puck.spin), radius: Preset.puckRadius, mass: Preset.puckMass)
    var first = mallet(.home, towards: home)
    var second = mallet(.away, towards: away)
    let touches = Preset.solver.advance(&puck, &first, &second)
    puck.velocity = puck.velocity.limited(to: Preset.puckSpeedCap)
    state.puck = Bounds.clamped(puck)
    place(first, second)
    if touches.count > 0 { record(touches, &events) }
  }

  private mutating func moveMallets(_ home: MalletInput, _ away: MalletInput) {
    var first = mallet(.home, towards: home)
    var second = mallet(.away, towards: away)
    first.position += first.velocity * Preset.step
    second.position += second.velocity * Preset.step
    place(first, second)
  }

  private mutating func place(_ first: Disc, _ second: Disc) {
    state.homeMallet = Bounds.clamped(mallet: LatticePoint(first.position), of: .home)
    state.awayMallet = Bounds.clamped(mallet: LatticePoint(second.position), of: .away)
  }

  /// Returns a seat's mallet as a disc for the physics engine. The disc's velocity moves it towards
  /// its target within the limits of speed and position.
  private func mallet(_ seat: Seat, towards input: MalletInput) -> Disc {
    let position = state[mallet: seat].vector
    let goal = input.vector
    let near = state.phase.isLive ? Preset.malletRadius : Preset.waitingDistance
    let far = Preset.halfLength - Preset.malletRadius
    let side = Preset.halfWidth - Preset.malletRadius
    let target = Vector(
      seat.side * min(max(goal.x * seat.side, near), far), min(max(goal.y, -side), side))
    let step = (target - position).limited(to: Preset.malletSpeedLimit * Preset.step)
    return Disc(
      position: position, velocity: step * Double(Preset.ticksPerSecond),
      radius: Preset.malletRadius, mass: nil)
  }

  private mutating func record(_ touches: SingleDiscContacts, _ events: inout RinkEvents) {
    if touches.rails > 0 { events.touches.insert(.rail) }
    if touches.posts > 0 { events.touches.insert(.post) }
    if touches.firstHits > 0 { events.touches.insert(.homeMallet) }
    if touches.secondHits > 0 { events.touches.insert(.awayMallet) }
    events.impact = touches.impact
    guard touches.goal != 0 else { return }
    score(touches.goal < 0 ? .away : .home, &events)
  }

  // MARK: - Rules

  private mutating func score(_ scorer: Seat, _ events: inout RinkEvents) {
    state.puck.velocity = .zero
    state.puck.spin = 0
    state.score[scorer] += 1
    events.goal = scorer
    if state.score[scorer] >= Preset.goalsToWin {
      state.phase = .matchEnd(winner: scorer)
      events.winner = scorer
    } else {
      state.phase = .goalPause(scorer: scorer, remaining: Preset.goalPauseTicks)
    }
  }

  private mutating func advancePhase(_ events: inout RinkEvents) {
    switch state.phase {
    case .faceOff(let remaining) where remaining > 1:
      state.phase = .faceOff(remaining: remaining - 1)
    case .faceOff:
      events.faceOff = true
      state.phase = .playing(half: nil, remaining: Preset.possessionTicks)
    case .serve(let seat, let remaining): advanceServe(of: seat, remaining, &events)
    case .playing(let half, let remaining): advancePlay(in: half, remaining, &events)
    case .goalPause(let scorer, let remaining):
      if remaining > 1 {
        state.phase = .goalPause(scorer: scorer, remaining: remaining - 1)
      } else {
        serve(scorer.opponent, &events)
      }
    case .foulPause(let seat, let remaining):
      if remaining > 1 {
        state.phase = .foulPause(by: seat, remaining: remaining - 1)
      } else {
        serve(seat.opponent, &events)
      }
    case .matchEnd: break
    }
  }

  private mutating func advanceServe(
    of seat: Seat, _ remaining: UInt16, _ events: inout RinkEvents
  ) {
    if !events.touches.isEmpty {
      state.phase = .playing(half: half, remaining: Preset.possessionTicks)
    } else if remaining > 1 {
      state.phase = .serve(seat, remaining: remaining - 1)
    } else {
      foul(by: seat, &events)
    }
  }

  private mutating func advancePlay(
    in last: Seat?, _ remaining: UInt16, _ events: inout RinkEvents
  ) {
    if half != last {
      state.phase = .playing(half: half, remaining: Preset.possessionTicks)
    } else if remaining > 1 {
      state.phase = .playing(half: last, remaining: remaining - 1)
    } else if let last {
      foul(by: last, &events)
    } else {
      // The puck has stayed on the center line, so neither player is at fault.
      state.puck = PuckState(position: .zero)
      state.phase = .faceOff(remaining: RinkState.faceOffTicks(of: state.match))
    }
  }

  /// The half that contains the puck's center, or nil if the center is on the center line.
  private var half: Seat? {
    let x = state.puck.position.x
    return x == 0 ? nil : (x < 0 ? .home : .away)
  }

  private mutating func foul(by seat: Seat, _ events: inout RinkEvents) {
    state.puck.velocity = .zero
    state.puck.spin = 0
    state.phase = .foulPause(by: seat, remaining: Preset.foulPauseTicks)
    events.foul = seat
  }

  private mutating func serve(_ seat: Seat, _ events: inout RinkEvents) {
    state.puck = PuckState(
      position: LatticePoint(Vector(seat.side * Preset.serveDistance, 0)))
    state.phase = .serve(seat, remaining: Preset.serveTicks)
    events.serve = seat
  }
}
