import CaromCore

/// The messages of one channel and mode at their receiver.
struct ReceiveLane: Sendable {
  /// What is known of one message.
  struct Entry: Sendable, BitwiseCopyable {
    enum State: UInt8, Sendable {
      case missing
      /// `index` is the reassembly's.
      case partial
      /// `index` is the buffer's; or the message was handed on already.
      case whole
    }

    var state = State.missing
    var index: Int32 = -1
    var length: UInt32 = 0
  }

  /// A message of a sequenced mode that has come in part.
  struct Partial: Sendable, BitwiseCopyable {
    var number: UInt64
    var index: Int32
  }

  let channel: UInt8
  let delivery: Delivery
  /// The lowest number that is not done: what comes next in order, or the lowest that is missing,
  /// or the one after the newest.
  var next: UInt64 = 0
  /// Messages from `next` on, where the mode tells every one of them.
  var window = Deque<Entry>()
  /// The oldest and the newest message of `reliableSequenced` that have come in part: the one so
  /// that something gets done, the other since it has to.
  var oldest: Partial?
  var newest: Partial?
  /// The place in the queue of the message of a sequenced mode that the owner has not taken.
  var queued: UInt64?

  init(channel: UInt8, delivery: Delivery) {
    self.channel = channel
    self.delivery = delivery
  }

  /// How far `number` is from `next`, by the nearest that has its 16 bits.
  mutating func distance(of number: UInt16) -> Int {
    Int(Int16(bitPattern: number &- UInt16(truncatingIfNeeded: next)))
  }
}
