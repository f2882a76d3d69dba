import CaromCore
import CaromSimulation

/// A message from a `HostedMatch` to its client or to one of its spectators.
public struct MatchMessage: Hashable, Sendable {
  /// The recipient's id, as returned by `HostedMatch.addClient` or `addSpectator`.
  public var recipient: Int
  /// The kind of message. Only `inputs` may be lost; all others must be sent reliably.
  public var kind: RollbackMessage
  /// The encoded message.
  public var bytes: [UInt8]
}
