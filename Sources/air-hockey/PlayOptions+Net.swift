import AirHockey
import AirHockeyTerminal
import Carom

extension PlayOptions {
  /// What a game over the network needs to know of these options.
  func setup(_ name: String, _ net: NetOptions) -> NetGame.Setup {
    var setup = NetGame.Setup(name: name, bot: plays, strength: strength, tickLimit: tickLimit)
    setup.tellsNetwork = net.netStats
    setup.recording = record
    return setup
  }

  /// The computer plays my seat, because it was asked to, or because nobody can.
  var plays: Bool { bot || headless }

  /// Runs a game on a loop of its own, and reports what it came to.
  func playOverNetwork(
    watching isWatching: Bool = false,
    _ play: (NetworkLoop, @Sendable () throws(CommandFailure) -> any GameFace) async throws ->
      Summary
  ) async throws {
    if !isWatching { try checkSeat() }
    Interrupts.begin()
    do {
      let summary = try await withNetworkLoop { (loop) async throws in
        try await play(loop) { () throws(CommandFailure) in
          try makeFace(.one, isWatching: isWatching)
        }
      }
      try report(summary)
    } catch {
      throw CommandFailure(any: error)
    }
  }
}
