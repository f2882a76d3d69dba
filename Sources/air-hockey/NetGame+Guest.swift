import AirHockey
import AirHockeyTerminal
import Carom

// The guest's side: it sends its mallet, and shows what the host tells.
extension NetGame {
  /// The host granted the seat: play begins with its first state.
  func beginVisiting() {
    summary.role = "client"
    role = .guest(JoinedMatch())
    computer = ComputerPlayer(.away, strength: setup.strength, seed: .random(in: 0 ... .max))
    awaitFirstState()
  }

  func stepVisiting(_ match: JoinedMatch, at now: Instant) {
    var match = match
    guard let state = match.view else { return }
    if let latest = match.latest { recordAge(of: latest.clock, at: now) }
    let own =
      setup.bot
      ? computer.input(for: state) : face.input(of: .away, in: state, at: now)
    let input = match.step(own ?? MalletInput(state[mallet: .away].vector), at: loop.now)
    role = .guest(match)
    send(input, on: .mallets)
  }

  func receiveVisiting(_ bytes: [UInt8], on channel: UInt8, _ match: JoinedMatch) -> Bool {
    var match = match
    switch channel {
    case Channel.states.id:
      guard let state = try? TableState(decoding: bytes.span) else { return false }
      _ = match.receive(state)
      role = .guest(match)
      startPlaying()
    case Channel.events.id:
      guard let event = try? TableEvent(decoding: bytes.span) else { return false }
      match.receive(event)
      role = .guest(match)
      tell(event, as: .away)
    default: return false
    }
    return true
  }
}
