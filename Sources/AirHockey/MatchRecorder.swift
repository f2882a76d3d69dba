import CaromSimulation

/// Writes a match into a replay file as it is decided.
public struct MatchRecorder: Sendable {
  /// What a replay of this game begins with: another game's file is refused.
  public static let title = "airhockey 2"

  private var writer: ReplayWriter<Rink>
  /// The state of the last tick that was written.
  private var last: RinkState
  /// How often a guest's match had begun.
  private let beginning: Int

  /// Begins with `state`; at a guest's side, with how often its match had begun.
  public init(_ state: RinkState, beginning: Int = 0) {
    writer = ReplayWriter(
      Rink(state), players: 2, rate: Preset.ticksPerSecond, title: Self.title, at: state.tick)
    last = state
    self.beginning = beginning
  }

  /// Adds a tick that led to `state`.
  public mutating func append(home: RinkInput, away: RinkInput, leadingTo state: RinkState) {
    writer.append({ $0 == 0 ? home : away }, leadingTo: Rink(state))
    last = state
  }

  /// Adds what the host decided since the last call; at least once a second.
  public mutating func record(_ match: HostedMatch) {
    let feed = match.broadcaster
    while writer.tick < feed.tick, let state = feed.history.state(at: writer.tick.next)?.state,
      let home = feed.input(for: 0, at: writer.tick), let away = feed.input(for: 1, at: writer.tick)
    { append(home: home, away: away, leadingTo: state) }
  }

  /// Adds what was decided since the last call, as a guest or a watcher has it; at least once a
  /// second. False where the match began anew there, and nothing can follow.
  public mutating func record(_ match: JoinedMatch) -> Bool {
    guard match.beginnings == beginning, let rollback = match.rollback else { return false }
    writer.record(rollback)
    last = rollback.state(at: writer.tick)?.state ?? last
    return true
  }

  /// The bytes since the last call: append them to the file.
  public mutating func takeBytes() -> [UInt8] { writer.takeBytes() }

  /// The file's last bytes; nothing is added afterwards.
  public mutating func finish() -> [UInt8] {
    writer.finish(Rink(last))
    return writer.takeBytes()
  }
}
