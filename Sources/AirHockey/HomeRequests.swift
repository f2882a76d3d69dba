import CaromSimulation

/// The requests that a host makes on behalf of home, at most one in each tick's input: those of the
/// home player, a restart for a new client, and the next match some time after the end of one.
public struct HomeRequests: Hashable, Sendable {
  /// The time between the end of a match and the start of the next one, in ticks: 3 s.
  public static let restTicks = 3 * Int64(Preset.ticksPerSecond)

  private var waiting: [RinkInput.Request] = []
  private var rest = MatchRest()

  /// Creates an empty list of requests.
  public init() {}

  /// Adds a request of the home player.
  public mutating func add(_ request: RinkInput.Request) { waiting.append(request) }

  /// Discards all requests, because a client has taken the away seat. Unless the client is
  /// `returning` to its match, requests a new match at 0-0.
  public mutating func seatTaken(returning: Bool) { waiting = returning ? [] : [.restart] }

  /// Returns home's input for the next tick, with the next request. `state` is the state before
  /// that tick. Call this method once per tick.
  public mutating func input(_ mallet: MalletInput?, in state: RinkState) -> RinkInput {
    if rest.isOver(in: state), waiting.isEmpty { waiting = [.startMatch] }
    return RinkInput(mallet, request: waiting.isEmpty ? nil : waiting.removeFirst())
  }
}

/// The time between the end of a match and the start of the next one.
struct MatchRest: Hashable, Sendable {
  /// The tick in which the match ended, or nil if it has not ended.
  private var endedAt: Tick?

  /// Returns whether the next match is due. Call this method once per tick.
  mutating func isOver(in state: RinkState) -> Bool {
    guard case .matchEnd = state.phase else {
      endedAt = nil
      return false
    }
    let end = endedAt ?? state.tick
    endedAt = end
    return !state.isPaused && end.distance(to: state.tick) >= HomeRequests.restTicks
  }
}
