import AirHockey
import AirHockeyTerminal
import Carom

// The host's side: it simulates, and tells.
extension NetGame {
  /// A guest sat down: the match begins at 0-0, or goes on where the same guest left it.
  func beginHosting(again: Bool) {
    summary.role = "host"
    if case .host(var match) = role {
      if again { match.welcomeBack() } else { match.seatGuest() }
      role = .host(match)
    } else {
      role = .host(HostedMatch())
    }
    computer = ComputerPlayer(.home, strength: setup.strength, seed: .random(in: 0 ... .max))
    startPlaying()
  }

  func stepHosted(_ match: HostedMatch, at now: Instant) {
    var match = match
    let state = match.state
    let own =
      setup.bot
      ? computer.input(for: state) : face.input(of: .home, in: state, at: now)
    _ = match.step(home: own ?? MalletInput(state[mallet: .home].vector))
    role = .host(match)
    if let input = match.guestInput { recordAge(of: input.clock, at: now) }
    tellEvents()
    guard case .host(let told) = role else { return }
    send(told.tableState(at: loop.now), on: .states)
  }

  /// Sends what happened, each once, and tells it here.
  private func tellEvents() {
    guard case .host(var match) = role else { return }
    let events = match.takeEvents()
    role = .host(match)
    for event in events {
      send(event, on: .events)
      tell(event, as: .home)
    }
    if let limit = setup.matchLimit, summary.matches >= limit { finishHosting(match) }
  }

  /// The last word: the final score, then goodbye.
  func finishHosting(_ match: HostedMatch) {
    send(match.ending, on: .events)
    end("finished", Goodbye(.finished))
  }

  /// The guest's time is up: its last word. A table without a time of its own opens again.
  private func dismissGuest(_ match: HostedMatch) {
    guard let link else { return }
    send(match.ending, on: .events)
    node.assumeIsolated { $0.close(link, Goodbye(.finished), as: .finished) }
  }

  func receiveHosting(_ bytes: [UInt8], on channel: UInt8, _ match: HostedMatch) -> Bool {
    var match = match
    switch channel {
    case Channel.mallets.id:
      guard let input = try? GuestInput(decoding: bytes.span) else { return false }
      match.receive(input)
      role = .host(match)
    case Channel.requests.id:
      guard let request = try? GuestRequest(decoding: bytes.span),
        requestLimit.admits(at: loop.now)
      else { return false }
      guard let command = request.command else {
        dismissGuest(match)
        return true
      }
      match.apply(command)
      role = .host(match)
      tellEvents()
    default: return false
    }
    return true
  }
}
