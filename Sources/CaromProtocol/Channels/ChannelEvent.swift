/// What a `ChannelSet` tells its owner beside messages. `message` is what `send` returned.
package enum ChannelEvent: Hashable, Sendable, BitwiseCopyable {
  /// There is room for reliable messages again, after `queueFull`.
  case writable
  /// A message's deadline passed before it left.
  case expired(channel: UInt8, message: UInt64)
  /// What became of a message that asked for a receipt: it is with the peer; or it was lost,
  /// dropped or replaced.
  case receipt(channel: UInt8, message: UInt64, delivered: Bool)
}
