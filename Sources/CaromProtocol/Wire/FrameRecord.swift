/// What a packet carried and somebody wants to hear of again: when the packet is acknowledged or
/// lost, its records go back to who wrote the frames.
package struct FrameRecord: Hashable, Sendable, BitwiseCopyable {
  package enum Kind: UInt8, Hashable, Sendable, BitwiseCopyable {
    /// A whole reliable message.
    case reliable
    /// A piece of a reliable message.
    case fragment
    /// An unreliable message whose sender asked for a receipt; `number` is the sender's.
    case receipt
    /// A credit for a channel; it is said anew when it is lost.
    case credit
    /// An acknowledgement; `number` is the largest packet that it told of.
    case acknowledgement
  }

  package var kind: Kind
  package var delivery: Delivery
  package var channel: UInt8
  /// The message's number, whole.
  package var number: UInt64
  /// Where in the message the piece begins, bytes.
  package var offset: UInt32
  /// How many bytes of the message it carries.
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
