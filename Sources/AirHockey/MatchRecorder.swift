import CaromSimulation

/// Encodes the confirmed ticks of a match as a replay file.
public struct MatchRecorder: Sendable {
  /// The title in the header of this game's replay files, which identifies the game and its
  /// version.
  public static let title = "airhockey 2"

  private var writer: ReplayWriter<Rink>
  /// The state after the last tick that was recorded.
  private var last: RinkState
  /// The client's `keyframeCount` when the recording began.
  private let keyframeCount: Int

  /// Creates a recorder that begins with `state`. For a client of a host, pass the client's current
  /// `keyframeCount`.
  public init(_ state: RinkState, keyframeCount: Int = 0) {
    writer = ReplayWriter(
      Rink(state), players: 2, rate: Preset.ticksPerSecond, title: Self.title, at: state.tick)
    last = state
    self.keyframeCount = keyframeCount
  }

  /// Adds a tick with the two players' inputs and the resulting state.
  public mutating func append(home: RinkInput, away: RinkInput, leadingTo state: RinkState) {
    writer.append({ $0 == 0 ? home : away }, leadingTo: Rink(state))
    last = state
  }

  /// Adds the ticks that the host has simulated since the previous call. Call this method at least
  /// once a second, because the host discards older ticks.
  public mutating func record(_ server: RollbackServer<Rink>) {
    writer.record(server.broadcaster)
    last = server.broadcaster.history.state(at: writer.tick)?.state ?? last
  }

  /// Adds the ticks that have been confirmed on a client or spectator since the previous call. Call
  /// this method at least once a second. Returns false, and adds nothing, if the host has sent the
  /// whole state again since the recording began; the recording must then end.
  public mutating func record(_ client: RollbackClient<Rink>) -> Bool {
    guard client.keyframeCount == keyframeCount, let rollback = client.rollback else {
      return false
    }
    writer.record(rollback)
    last = rollback.state(at: writer.tick)?.state ?? last
    return true
  }

  /// Returns the bytes that have been encoded since the previous call, to be appended to the file.
  public mutating func takeBytes() -> [UInt8] { writer.takeBytes() }

  /// Ends the recording, and returns the last bytes of the file.
  public mutating func finish() -> [UInt8] {
    writer.finish(Rink(last))
    return writer.takeBytes()
  }
}
