/// An acknowledgement in a packet's header: the 64 packets up to `largest` were all received, or
/// all packets from number 0 on if those are fewer.
///
/// It is valid only in a packet whose number is above all received before. `largest` then is the
/// one number with these low 16 bits among the 65,536 numbers from the largest acknowledged one on.
package struct ShortAcknowledgement: Hashable, Sendable {
  /// The low 16 bits of the largest received number.
  package var largest: UInt16
  /// How long ago the packet with that number arrived.
  package var ackDelay: AckDelay

  package init(largest: UInt16, ackDelay: AckDelay) {
    self.largest = largest
    self.ackDelay = ackDelay
  }

  /// The full largest number, given the largest number acknowledged before.
  package func expanded(after largestAcknowledged: UInt64?) -> UInt64 {
    let base = largestAcknowledged ?? 0
    return base + UInt64(largest &- UInt16(truncatingIfNeeded: base))
  }
}
