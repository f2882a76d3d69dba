/// What another host needs to go on with a match: the state of the game, as the game encodes it,
/// and its tick.
public struct Checkpoint: Hashable, Sendable {
  /// The maximum length of the state in bytes.
  public static let maximumLength = 8_192

  /// The tick of the state.
  public let tick: UInt64
  /// The encoded state, at most 8,192 bytes: positions, score, and the reliable events that players
  /// have not acknowledged.
  public let state: [UInt8]

  /// Creates a checkpoint. Returns nil if the state is longer than 8,192 bytes, or if the tick is
  /// greater than 2^53.
  public init?(tick: UInt64, state: [UInt8]) {
    guard state.count <= Self.maximumLength, tick <= MatchClaim.maximumNumber else { return nil }
    self.tick = tick
    self.state = state
  }
}
