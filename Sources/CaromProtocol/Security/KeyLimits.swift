/// The limits of the use of one key of an encrypted link, after which it is replaced.
package struct KeyLimits: Hashable, Sendable {
  /// The number of packets, or of bodies on a stream, after which a side replaces its key. It is
  /// half the confidentiality limit of AES-256-GCM.
  package var packets: UInt64 = 1 << 22
  /// The time after which a side replaces its key.
  package var lifetime = Duration.seconds(3_600)
  /// The maximum number of forged packets that a path may receive; nil for the integrity limit of
  /// its cipher.
  package var forgedPackets: UInt64?
  /// The maximum number of packets that one key may encrypt; nil for the confidentiality limit of
  /// its cipher.
  package var encryptedPackets: UInt64?

  /// The number of round trips for which a key is kept after it was replaced, for packets that
  /// arrive late.
  static let roundTripsKept: Int64 = 3
  /// The minimum time for which a key is kept, in nanoseconds.
  static let minimumKept: Int64 = 100_000_000

  package init() {}
}
