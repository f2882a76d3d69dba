import CaromCore

/// Messages that wait for the owner.
struct ReadyQueue: Sendable {
  struct Message: Sendable, BitwiseCopyable {
    var buffer: MessageArena.Slot
    var length: UInt32
    var lane: UInt16
    var channel: UInt8
    var delivery: Delivery
  }

  private var messages = Deque<Message>()
  private var popped: UInt64 = 0

  var isEmpty: Bool { messages.isEmpty }
  var count: Int { messages.count }

  /// Appends a message and says its place.
  @discardableResult
  mutating func append(_ message: Message) -> UInt64 {
    messages.append(message)
    return popped + UInt64(messages.count - 1)
  }

  /// Puts a newer message in the place of one that waits; the older is returned.
  mutating func replace(_ message: Message, at place: UInt64) -> Message {
    let position = Int(place - popped)
    let old = messages[position]
    messages[position] = message
    return old
  }

  mutating func popFirst() -> Message? {
    guard let message = messages.popFirst() else { return nil }
    popped += 1
    return message
  }

  mutating func trim() { messages.trim() }
}
