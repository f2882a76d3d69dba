/// A random test failed, with the seed that shows it again.
public struct SeedFailure: Error, Hashable, Sendable, CustomStringConvertible {
  /// The seed.
  public let seed: UInt64
  /// What went wrong.
  public let reason: String

  /// The failure of one seed.
  public init(seed: UInt64, reason: String) {
    self.seed = seed
    self.reason = reason
  }

  /// One line for people, with what to type.
  public var description: String { "CAROM_SEED=\(seed) shows it again: \(reason)" }
}
