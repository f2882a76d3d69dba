/// The delivery guarantee of a channel's messages. The raw value is the mode of a message frame on
/// the wire.
public enum Delivery: UInt8, Hashable, Sendable, BitwiseCopyable, CaseIterable {
  /// A message may be lost, and messages may arrive in any order. A message is at most 64 KiB long.
  /// This is the only delivery whose messages are not numbered.
  case unreliable = 0
  /// Only the newest message matters: sending a message replaces an older message that is still
  /// queued, messages may be lost, and an older message never arrives after a newer one. A message
  /// is at most 64 KiB long.
  case unreliableSequenced = 1
  /// Each message arrives exactly once, in the order in which the messages were sent.
  case reliableOrdered = 2
  /// Each message arrives exactly once, in any order, without waiting for others.
  case reliableUnordered = 3
  /// The newest message always arrives. Older messages may be dropped, and none arrives after a
  /// newer one. A message is at most 64 KiB long.
  case reliableSequenced = 4

  /// Whether lost messages are retransmitted until they are acknowledged.
  package var isReliable: Bool { rawValue >= Self.reliableOrdered.rawValue }
  /// Whether a message's frame carries its number.
  package var isNumbered: Bool { self != .unreliable }
}
