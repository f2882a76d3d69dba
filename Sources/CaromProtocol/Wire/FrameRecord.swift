/// A record of one frame of a sent packet. When the packet is acknowledged or declared lost, its
/// records are returned to the sender of the frames.
package struct FrameRecord: Hashable, Sendable, BitwiseCopyable {
  package enum Kind: UInt8, Hashable, Sendable, BitwiseCopyable {
    /// A whole reliable message.
    case reliable
    /// A fragment of a reliable message.
    case fragment
    /// An unreliable message with a receipt. `number` identifies the receipt.
    case receipt
    /// A credit for a channel. A lost credit is retransmitted.
    case credit
  }

  package var kind: Kind
  package var delivery: Delivery
  package var channel: UInt8
  /// The message's full number, unless the documentation of `kind` says otherwise.
  package var number: UInt64
  /// The fragment's offset in the message, in bytes.
  package var offset: UInt32
  /// The length of the fragment in bytes; 0 for a whole message.
  package var length: UInt32

  package init(
    _ kind: Kind, delivery: Delivery = .unreliable, channel: UInt8 = 0, number: UInt64 = 0,
    offset: UInt32 = 0, length: UInt32 = 0
  ) {
    self.kind = kind
    self.delivery = delivery
    self.channel = channel
    self.number = number
    self.offset = offset
    self.length = length
  }
}

extension [FrameRecord] {
  /// Removes all records but keeps their storage. There are few records, and removing even one with
  /// `removeAll` takes ten times as long.
  @inline(__always) mutating func clear() {
    while !isEmpty { removeLast() }
  }
}
