/// An acknowledgement in a packet's header. It reports that the 64 packets up to `largest` were all
/// received, or all packets from number 0 on if there are fewer.
///
/// It is valid only in a packet whose number exceeds all numbers received before. The full number
/// of `largest` is the smallest number with these low 16 bits that is not less than the largest
/// number acknowledged so far.
package struct ShortAcknowledgement: Hashable, Sendable {
  /// The low 16 bits of the largest received number.
  package var largest: UInt16
  /// The time since the packet with the largest number arrived.
  package var ackDelay: AckDelay

  package init(largest: UInt16, ackDelay: AckDelay) {
    self.largest = largest
    self.ackDelay = ackDelay
  }

  /// Returns the full packet number of which `largest` holds the low bits. `largestAcknowledged` is
  /// the largest number acknowledged so far.
  package func expanded(after largestAcknowledged: UInt64?) -> UInt64 {
    let base = largestAcknowledged ?? 0
    return base + UInt64(largest &- UInt16(truncatingIfNeeded: base))
  }
}
