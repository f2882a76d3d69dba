/// The kinds of message in a rollback match. Each kind has its own layout.
public enum RollbackMessage: UInt8, Hashable, Sendable, CaseIterable {
  /// An `InputHeader` and encoded inputs. Sent once per tick; may be lost and reordered.
  case inputs = 0
  /// A `DesyncStateReport`, up to 64 KiB. Rare; repeated until answered, so it may be sent reliably
  /// or not.
  case stateReport = 1
  /// A `RollbackKeyframe`, or an empty message that requests one. Rare; send it reliably.
  case keyframe = 2
  /// The last inputs of a disconnected player, between peers. Rare; repeated until acknowledged.
  case disconnect = 3
}
