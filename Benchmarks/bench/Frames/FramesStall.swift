import Carom

/// The error of a run in lockstep that cannot continue, since each tick needs the input of every
/// client.
struct FramesStall: Error, CustomStringConvertible {
  /// How long the server waits for the inputs of a tick: as long as a handshake may take.
  static let limit = SessionTiming().handshakeLimit

  /// The number of ticks that the server had made.
  let tick: Int
  /// The number of clients whose input for the last tick has not arrived.
  let missingInputs: Int
  /// The number of clients that have disconnected.
  let lostClients: Int

  var description: String {
    "tick \(tick) misses \(missingInputs) inputs, and \(lostClients) clients have disconnected: "
      + "the counts need every client; run again"
  }
}
