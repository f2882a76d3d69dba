import AirHockey
import AirHockeyTerminal
import Carom

extension PlayOptions {
  /// Converts these options to those of a game over the network.
  func setup(_ name: String, _ net: NetOptions) -> NetGame.Setup {
    var setup = NetGame.Setup(
      name: name, bot: computerPlays, strength: strength, tickLimit: tickLimit)
    setup.showsNetwork = net.netStats
    setup.recording = record
    return setup
  }

  /// Whether the computer plays in place of a person: always without a display, because a person
  /// cannot play without one.
  var computerPlays: Bool { bot || headless }

  /// Runs a game on its own loop, then prints the summary.
  func playOverNetwork(
    isSpectator: Bool = false,
    _ play: (NetworkLoop, @Sendable () throws(CommandFailure) -> any GameDisplay) async throws ->
      Summary
  ) async throws {
    if !isSpectator { try checkSeat() }
    Interrupts.begin()
    do {
      let summary = try await withNetworkLoop { (loop) async throws in
        try await play(loop) { () throws(CommandFailure) in
          try makeDisplay(.one, isSpectator: isSpectator)
        }
      }
      try report(summary)
    } catch {
      throw CommandFailure(any: error)
    }
  }
}
