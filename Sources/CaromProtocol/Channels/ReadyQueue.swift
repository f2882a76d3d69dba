import CaromCore

/// A queue of complete messages that the application has not read.
struct ReadyQueue: Sendable {
  struct Message: Sendable, BitwiseCopyable {
    var buffer: MessageArena.Slot
    var length: UInt32
    var lane: UInt16
    var channel: UInt8
    var delivery: Delivery
  }

  private var messages = Deque<Message>()
  /// The number of messages removed so far, which is also the position of the message at the front.
  private var popped: UInt64 = 0

  var isEmpty: Bool { messages.isEmpty }

  /// Appends a message and returns its position, which stays valid until the message is removed.
  @discardableResult
  mutating func append(_ message: Message) -> UInt64 {
    messages.append(message)
    return popped + UInt64(messages.count - 1)
  }

  /// Replaces the message at `position` with a newer message and returns the older message.
  mutating func replace(_ message: Message, at position: UInt64) -> Message {
    let index = Int(position - popped)
    let old = messages[index]
    messages[index] = message
    return old
  }

  mutating func popFirst() -> Message? {
    guard let message = messages.popFirst() else { return nil }
    popped += 1
    return message
  }

  /// Frees unused capacity.
  mutating func trim() { messages.trim() }
}
