import AirHockey
import CaromCore
import CaromSimulation

/// Two computer players play a match that is always the same, in every build and on every machine.
/// `Tests/determinism.sh` builds it at every optimization level.
enum FixedMatch {
  /// The state's hash after each 2,000 of 6,000 ticks, and the number of goals.
  static func play() -> (hashes: [UInt64], goals: Int) {
    var rink = Rink()
    var home = ComputerPlayer(.home, strength: .hard, seed: 3)
    var away = ComputerPlayer(.away, seed: 4)
    var events: [RinkEvent] = []
    var hashes: [UInt64] = []
    for tick in 1...6_000 {
      let inputs = [home.play(rink.state), away.play(rink.state)]
      rink.step(inputs.span, events: &events)
      if tick % 2_000 == 0 { hashes.append(rink.hash) }
    }
    return (hashes, events.count { if case .goal = $0 { true } else { false } })
  }
}

extension ComputerPlayer {
  /// Chooses the next input. The home player requests the next match when one is over.
  mutating func play(_ state: RinkState) -> RinkInput {
    var request: RinkInput.Request?
    if seat == .home, case .matchEnd = state.phase { request = .startMatch }
    return RinkInput(input(for: state), request: request)
  }
}
