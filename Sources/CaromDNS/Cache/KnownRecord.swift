/// A record as the cache holds it.
package struct KnownRecord: Hashable, Sendable {
  /// What was heard.
  package var record: Record
  /// The interface that it was heard on.
  package var interface: UInt32
  /// How long it is still kept.
  package var timeLeft: Duration
}
