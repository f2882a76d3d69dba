/// A message at its sender, from `send` until it is acknowledged or dropped.
struct SendMessage: Sendable, BitwiseCopyable {
  /// The number that `send` returned.
  var ticket: UInt64
  /// The deadline for starting to send the message, in nanoseconds; `.max` if it has none.
  var deadline: Int64
  /// The buffer with the message's bytes; `MessageArena.none` once the message is done.
  var buffer: MessageArena.Slot
  var length: UInt32
  /// The number of bytes, from the front, that were sent at least once as fragments.
  var sentBytes: UInt32 = 0
  /// The index of the message's entry in the fragment table; -1 while it is sent whole.
  var fragments: Int32 = -1
  /// The number of packets in flight that carry the whole message.
  var copies: UInt16 = 0
  /// Whether the message, or a fragment of it, is waiting to be sent again.
  var isLost = false
  var wantsReceipt: Bool

  /// Whether the message was acknowledged or dropped.
  var isDone: Bool { buffer == MessageArena.none }
  /// The number of bytes that queues and credit count for the message.
  var charge: Int { Int(length) + ChannelLimits.messageCharge }
}
