import AirHockey
import CaromCore
import CaromPhysics
import CaromSimulation

/// Records matches of two players as a replay that covers everything players can do: they play, do
/// nothing until they foul, move their mallets wildly, squeeze the puck, pause the match, request
/// the next match and restart.
struct RecordedMatch {
  private enum Mood { case playing, idle, wild, squeezing }

  private var rink = Rink()
  private var players = [
    ComputerPlayer(.home, strength: .hard, seed: 5),
    ComputerPlayer(.away, strength: .easy, seed: 6),
  ]
  private var moods = [Mood.playing, .playing]
  private var moodTicks = [0, 0]
  private var generator: SeededGenerator

  init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

  /// Returns a replay of `ticks` ticks, with a hash every third tick.
  mutating func replay(ticks: Int) -> [UInt8] {
    var writer = ReplayWriter(
      rink, players: 2, title: MatchRecorder.title, keyframeInterval: 600, hashInterval: 3)
    var events: [RinkEvent] = []
    for _ in 0..<ticks {
      let inputs = Seat.allCases.map { input(of: $0) }
      rink.step(inputs.span, events: &events)
      events.removeAll(keepingCapacity: true)
      writer.append({ inputs[$0] }, leadingTo: rink)
    }
    writer.finish(rink)
    return writer.takeBytes()
  }

  private mutating func input(of seat: Seat) -> RinkInput {
    let index = Int(seat.rawValue)
    let played = players[index].input(for: rink.state)
    moodTicks[index] -= 1
    if moodTicks[index] < 0 { changeMood(index) }
    switch moods[index] {
    case .playing: return RinkInput(played, request: request(of: seat))
    case .idle: return RinkInput(nil, request: request(of: seat))
    case .squeezing: return RinkInput(MalletInput(rink.state.puck.position.vector))
    case .wild:
      let place = MalletInput(x: tenths(10_000), y: tenths(5_200))
      return RinkInput(place, request: request(of: seat))
    }
  }

  private mutating func changeMood(_ index: Int) {
    let moods: [(Mood, Int)] = [(.idle, 900), (.wild, 240), (.squeezing, 120)]
    let isPlaying = self.moods[index] == .playing
    let next = isPlaying ? moods[Int(generator.next() % 3)] : (.playing, 300)
    (self.moods[index], moodTicks[index]) = next
  }

  private mutating func request(of seat: Seat) -> RinkInput.Request? {
    if rink.state.pauses.contains(.of(seat)) { return generator.chance(0.02) ? .resume : nil }
    if case .matchEnd = rink.state.phase { return generator.chance(0.01) ? .startMatch : nil }
    if generator.chance(0.000_1) { return .restart }
    return generator.chance(0.001) ? .pause : nil
  }

  private mutating func tenths(_ most: Int) -> Int16 {
    Int16(Int(generator.next() % UInt64(2 * most + 1)) - most)
  }
}
