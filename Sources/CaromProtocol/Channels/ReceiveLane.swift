import CaromCore

/// The messages that one channel receives with one kind of delivery.
struct ReceiveLane: Sendable {
  /// The state of one message in the window.
  struct Entry: Sendable, BitwiseCopyable {
    enum State: UInt8, Sendable {
      case missing
      /// Some fragments were received; the entry's `index` identifies the reassembly of the
      /// message.
      case partial
      /// The message is complete; `index` is its buffer, or `MessageArena.none` if the message was
      /// already queued for the application.
      case whole
    }

    var state = State.missing
    var index: Int32 = -1
    var length: UInt32 = 0
  }

  /// A sequenced message that is under reassembly.
  struct Partial: Sendable, BitwiseCopyable {
    var number: UInt64
    /// The index of the reassembly.
    var index: Int32
  }

  /// The number of complete messages.
  var messagesReceived: UInt64 = 0
  /// The number of bytes of the complete messages.
  var bytesReceived: UInt64 = 0
  /// The lowest message number that can still be accepted: in an ordered lane the next to deliver,
  /// in an unordered lane the lowest that is missing, and in a sequenced lane the number after the
  /// newest complete message.
  var next: UInt64 = 0
  /// The states of the messages with the numbers `next` and higher, in order. Only reliable lanes
  /// that are not sequenced use the window.
  var window = Deque<Entry>()
  /// The position in the ready queue of the lane's unread sequenced message; nil if there is none.
  var queued: UInt64?
  let channel: UInt8
  let delivery: Delivery
  /// The oldest partial message of a `reliableSequenced` lane. It is kept so that messages are
  /// completed even if newer ones keep arriving.
  @Boxed var oldest: Partial?
  /// The newer partial message of a `reliableSequenced` lane that has two. It is kept because the
  /// newest message must always be delivered.
  @Boxed var newest: Partial?

  init(channel: UInt8, delivery: Delivery) {
    self.channel = channel
    self.delivery = delivery
  }

  /// Returns the distance from `next` to the nearest number whose low 16 bits are `number`. The
  /// distance is negative if the message is older than `next`.
  mutating func distance(of number: UInt16) -> Int {
    Int(UInt64(expanding: UInt64(number), bits: 16, near: next)) - Int(next)
  }
}
