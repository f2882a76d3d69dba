/// Identifies a byte stream on one connection.
package struct StreamID: Hashable, Sendable {
  /// Whether this side has opened the stream, rather than the peer.
  package let isOutgoing: Bool
  /// The stream's number, which is counted from 0 by the side that opens it.
  package let number: UInt64

  package init(isOutgoing: Bool, number: UInt64) {
    self.isOutgoing = isOutgoing
    self.number = number
  }
}

extension StreamID: Comparable {
  package static func < (a: StreamID, b: StreamID) -> Bool {
    (a.number, a.isOutgoing ? 0 : 1) < (b.number, b.isOutgoing ? 0 : 1)
  }
}
