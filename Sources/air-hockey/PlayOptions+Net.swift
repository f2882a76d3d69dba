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

  /// Runs a game on its own loop, then prints the summary. `connect` opens a session and lets the
  /// game play over it. If the game ends before it does, the attempt is cancelled.
  func playOverNetwork(
    _ setup: NetGame.Setup,
    _ connect: @escaping @Sendable (NetworkLoop, NetGame) async throws -> Void
  ) async throws {
    if setup.isPlayer { try checkSeat() }
    Interrupts.begin()
    do {
      let summary = try await withNetworkLoop { (loop) async throws in
        let game = NetGame(setup, on: loop)
        try await game.begin { () throws(CommandFailure) in
          try makeDisplay(setup.isPlayer ? .one : .nobody, isSpectator: !setup.isPlayer)
        }
        let connecting = Task { () -> (any Error)? in
          do {
            try await connect(loop, game)
            return nil
          } catch {
            await game.abandon()
            return error
          }
        }
        let summary = await game.finish()
        if await game.session == nil { connecting.cancel() }
        if let failure = await connecting.value, await game.wasAbandoned { throw failure }
        return summary
      }
      try report(summary)
    } catch {
      throw CommandFailure(any: error)
    }
  }
}
