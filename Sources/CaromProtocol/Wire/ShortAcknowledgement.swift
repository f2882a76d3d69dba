/// An acknowledgement in a packet's header: the packets up to `largest` came, 64 of them or back to
/// number 0.
///
/// It counts only in the newest packet that came yet, where `largest` is the one number from the
/// largest acknowledged on that has these 16 bits.
package struct ShortAcknowledgement: Hashable, Sendable {
  /// The lowest 16 bits of the largest number that came.
  package var largest: UInt16
  /// How long ago that one came.
  package var ackDelay: AckDelay

  package init(largest: UInt16, ackDelay: AckDelay) {
    self.largest = largest
    self.ackDelay = ackDelay
  }

  /// The largest number, whole; `largestAcknowledged` is the largest that was acknowledged before.
  package func expanded(after largestAcknowledged: UInt64?) -> UInt64 {
    let base = largestAcknowledged ?? 0
    return base + UInt64(largest &- UInt16(truncatingIfNeeded: base))
  }
}
