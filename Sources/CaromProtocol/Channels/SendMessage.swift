/// A message at its sender, from `send` until it is done.
struct SendMessage: Sendable, BitwiseCopyable {
  /// What `send` returned.
  var ticket: UInt64
  /// Nanoseconds; `.max` for none.
  var deadline: Int64
  /// Where its bytes are; `none` when it is done.
  var buffer: MessageArena.Slot
  var length: UInt32
  /// Bytes from the front that have left at least once, where it is cut.
  var begun: UInt32 = 0
  /// What is known of its pieces; -1 while it goes whole.
  var pieces: Int32 = -1
  /// Packets under way that carry it whole.
  var copies: UInt16 = 0
  /// Whether it waits to be sent again.
  var isLost = false
  var wantsReceipt: Bool

  var isDone: Bool { buffer == MessageArena.none }
  /// What it counts in queues and credit.
  var charge: Int { Int(length) + ChannelLimits.messageCharge }
}
