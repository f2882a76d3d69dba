import CaromCore

/// Why a snapshot was not taken.
public enum SnapshotError: Error, Hashable, Sendable {
  /// The bytes are not a snapshot: drop them.
  case malformed(DecodeError)
  /// It is foretold from a snapshot that is not there: ask for one in full.
  case missingBase(Tick)
  /// It was taken already, or is foretold from what is no longer kept: drop it.
  case stale(Tick)
}
