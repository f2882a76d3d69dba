import CaromCore

/// The reason for which a snapshot was rejected.
public enum SnapshotError: Error, Hashable, Sendable {
  /// The bytes are not a valid snapshot. Drop them.
  case malformed(DecodeError)
  /// The snapshot of this tick, on which the received one is based, is missing. Send the
  /// acknowledgement, which requests a full snapshot.
  case missingBase(Tick)
  /// The snapshot of this tick was already received, or its base is too old to be stored. Drop it.
  case stale(Tick)
}
