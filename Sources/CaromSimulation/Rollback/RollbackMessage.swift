/// What the peers of a game in step send each other; each has a layout of its own.
public enum RollbackMessage: UInt8, Hashable, Sendable, CaseIterable {
  /// An `InputHeader` and inputs in packed form: one each tick, unreliable, in any order.
  case inputs = 0
  /// A `DesyncStateReport`: rare, up to 64 KiB, reliable (or not: it is repeated until answered).
  case stateReport = 1
  /// A `RollbackKeyframe`: rare, reliable.
  case keyframe = 2
  /// A player is gone: its last inputs, between peers; rare, repeated until it is answered.
  case disconnect = 3
}
