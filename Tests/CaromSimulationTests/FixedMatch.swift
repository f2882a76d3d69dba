import AirHockey
import CaromCore
import CaromSimulation

/// Two computers play always the same match: what it comes to is the same in every build and on
/// every machine. `Tests/determinism.sh` builds it with every kind of optimisation.
enum FixedMatch {
  /// The state's hash after every 2,000 of 6,000 ticks, and how many goals there were.
  static func play() -> (hashes: [UInt64], goals: Int) {
    var rink = Rink()
    var home = ComputerPlayer(.home, strength: .hard, seed: 3)
    var away = ComputerPlayer(.away, seed: 4)
    var events: [RinkEvent] = []
    var hashes: [UInt64] = []
    for tick in 1...6_000 {
      var request: RinkInput.Request?
      if case .matchEnd = rink.state.phase { request = .startMatch }
      let inputs = [
        RinkInput(home.input(for: rink.state), request: request),
        RinkInput(away.input(for: rink.state)),
      ]
      rink.step(inputs.span, events: &events)
      if tick % 2_000 == 0 { hashes.append(rink.hash) }
    }
    return (hashes, events.count { if case .goal = $0 { true } else { false } })
  }
}
