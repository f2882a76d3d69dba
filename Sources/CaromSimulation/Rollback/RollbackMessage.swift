/// The kinds of message in a rollback match. Each kind has its own layout.
public enum RollbackMessage: UInt8, Hashable, Sendable, CaseIterable {
  /// An `InputHeader` followed by encoded inputs. Sent once per tick; may be lost or reordered.
  case inputs = 0
  /// A `DesyncStateReport` of up to 64 KiB. Sent rarely, and repeated until it is answered, so it
  /// may be sent reliably or unreliably.
  case stateReport = 1
  /// A `RollbackKeyframe`, or an empty message that requests one. Sent rarely; must be sent
  /// reliably.
  case keyframe = 2
  /// A `PlayerDisconnect` message between peers. Sent rarely, and repeated until it is
  /// acknowledged.
  case disconnect = 3
  /// A `RollbackSeat`, which a server sends to a client before its first keyframe. Must be sent
  /// reliably, and in order with the keyframes.
  case seat = 4
  /// A `PlayerReturn` message between peers. Sent rarely; must be sent reliably, and in order with
  /// the keyframes and the messages about disconnected players.
  case reconnect = 5
}
