/// An event that a `ChannelSet` reports, other than the arrival of a message. `message` is the
/// number that `send` returned for the message.
package enum ChannelEvent: Hashable, Sendable, BitwiseCopyable {
  /// The send queue, which had refused a reliable message with `queueFull`, has space again.
  case writable
  /// A message was dropped because its deadline passed before any part of it was sent.
  case expired(channel: UInt8, message: UInt64)
  /// The outcome of a message sent with `wantsReceipt`: the peer acknowledged it, or it was lost,
  /// dropped or replaced by a newer message.
  case receipt(channel: UInt8, message: UInt64, delivered: Bool)
}
