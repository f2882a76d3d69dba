/// The sender's record of a message, kept from `send` until the message is acknowledged or dropped.
struct SendMessage: Sendable, BitwiseCopyable {
  /// The number that `send` returned.
  var ticket: UInt64
  /// The time, in nanoseconds, by which the first part of the message must be sent; `.max` if there
  /// is no deadline.
  var deadline: Int64
  /// The buffer with the message's bytes; `MessageArena.none` once the message has been
  /// acknowledged or dropped.
  var buffer: MessageArena.Slot
  var length: UInt32
  /// The number of bytes at the start of the message that were sent at least once as fragments.
  var sentBytes: UInt32 = 0
  /// The index of the message's entry in the fragment table; -1 unless the message is fragmented.
  var fragments: Int32 = -1
  /// The number of packets in flight that carry the whole message.
  var copies: UInt16 = 0
  /// Whether the message, or a fragment of it, is waiting to be retransmitted.
  var isLost = false
  var wantsReceipt: Bool

  /// Whether the message was acknowledged or dropped.
  var isDone: Bool { buffer == MessageArena.none }
  /// The number of bytes charged to queue limits and credit for the message.
  var charge: Int { Int(length) + ChannelLimits.messageCharge }
}
