/// An event of a `ChannelSet`, other than the arrival of a message. `message` is the number that
/// `send` returned for the message.
package enum ChannelEvent: Hashable, Sendable, BitwiseCopyable {
  /// The send queue, which had refused a reliable message with `queueFull`, has space again.
  case writable
  /// A message was dropped because its deadline passed before any part of it was sent.
  case expired(channel: UInt8, message: UInt64)
  /// The outcome of a message sent with `wantsReceipt`. `delivered` is true if the peer
  /// acknowledged the message, and false if the message was lost, dropped or replaced by a newer
  /// one.
  case receipt(channel: UInt8, message: UInt64, delivered: Bool)
}
