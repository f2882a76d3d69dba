import AirHockey
import CaromCore
import CaromPhysics
import CaromSimulation

/// A client that predicts a match and reconciles with the server's states: measures how far its
/// mallet and the puck are corrected, and how long each correction is visible.
struct RollbackReconciliation {
  /// The largest correction of the local mallet, in millimeters, while no other player affects it.
  var localMallet = 0.0
  /// The largest and the mean correction of the puck, in millimeters.
  var puckMost = 0.0
  var puckMean = 0.0
  var corrections = 0
  var ticks = 0
  /// The longest time for which a correction was visible, in milliseconds.
  var longestBlend = 0.0
  /// The number of drawn frames in which the puck was inside a rail.
  var insideRail = 0

  /// Plays a match over a link with a latency of `delay` ticks in each direction and no loss.
  init(ticks: Int, delay: Int) {
    var server = Rink()
    var client = Predictor(Rink(), players: 2, player: 1)
    var computers = (
      ComputerPlayer(.home, strength: .hard, seed: 5),
      ComputerPlayer(.away, strength: .hard, seed: 6)
    )
    var view = RinkView()
    var toServer: [RinkInput] = []
    var toClient: [Rink] = []
    var predictions: [RinkState] = [RinkState()]
    var events: [RinkEvent] = []
    var free = 0
    var last = Instant.zero
    for tick in 0..<ticks {
      let now = Instant(nanoseconds: Int64(tick) * 1_000_000_000 / 60)
      var input = RinkInput(computers.1.input(for: client.state.state))
      if case .matchEnd = server.state.phase {
        input = RinkInput(input.mallet, request: .startMatch)
      }
      toServer.append(input)
      client.advance(with: input)
      predictions.append(client.state.state)
      if tick >= delay {
        let inputs = [RinkInput(computers.0.input(for: server.state)), toServer[tick - delay]]
        server.step(inputs.span, events: &events)
        events.removeAll(keepingCapacity: true)
        toClient.append(server)
      }
      if tick >= 2 * delay {
        let old = client.state.state
        let state = toClient[tick - 2 * delay]
        let correction = client.reconcile(with: state, at: state.state.tick)
        if (correction?.resimulatedSteps ?? 0) > 0 {
          recordCorrection(old, client.state.state)
          view.correct(from: old, to: client.state.state, at: now)
          last = now
        }
        predictions[predictions.count - 1] = client.state.state
      }
      compare(predictions, server.state, &free)
      checkDrawing(view, client.state.state, now, last)
    }
    self.ticks = ticks
    puckMean /= Double(max(1, corrections))
  }

  private mutating func recordCorrection(_ old: RinkState, _ new: RinkState) {
    let off = (old.puck.position.vector - new.puck.position.vector).length * 1_000
    corrections += 1
    puckMost = max(puckMost, off)
    puckMean += off
  }

  private mutating func compare(_ predictions: [RinkState], _ state: RinkState, _ free: inout Int) {
    let tick = Int(state.tick.rawValue)
    guard tick < predictions.count else { return }
    let predicted = predictions[tick]
    let isPressed = state.phase.isLive && state.puck.velocity == .zero
    if isPressed || predicted.phase.isLive != state.phase.isLive { free = tick + 60 }
    guard tick > free else { return }
    let off = predicted[mallet: .away].vector - state[mallet: .away].vector
    localMallet = max(localMallet, off.length * 1_000)
  }

  private mutating func checkDrawing(
    _ view: RinkView, _ state: RinkState, _ now: Instant, _ last: Instant
  ) {
    for part in 0..<4 {
      let at = now + .microseconds(4_166 * part)
      let shown = view.shown(state, at: at)
      if shown != state { longestBlend = max(longestBlend, (at - last).inMilliseconds) }
      let puck = shown.puck.position.vector
      let isDeep = puck.x.magnitude > Preset.halfLength - Preset.puckRadius + 1e-9
      let isInMouth = puck.y.magnitude <= Preset.goalHalfWidth - Preset.puckRadius + 1e-9
      let isOff = puck.y.magnitude > Preset.halfWidth - Preset.puckRadius + 1e-9
      if isOff || isDeep && !isInMouth { insideRail += 1 }
    }
  }
}
