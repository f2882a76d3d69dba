import CaromCore
import CaromSimulation

/// A message of a match in step, and for which watcher of a host it is.
public struct TableMessage: Hashable, Sendable {
  /// The watcher's number at the host.
  public var watcher: Int
  /// What it is: inputs may be lost, everything else may not.
  public var kind: RollbackMessage
  /// Its bytes.
  public var bytes: [UInt8]
}
