import CaromCore

/// The messages that one channel receives with one kind of delivery.
struct ReceiveLane: Sendable {
  /// The state of one message in the window.
  struct Entry: Sendable, BitwiseCopyable {
    enum State: UInt8, Sendable {
      case missing
      /// Some fragments were received; `index` identifies their reassembly.
      case partial
      /// The message is complete; `index` is its buffer, or `MessageArena.none` if the message was
      /// already queued for the owner.
      case whole
    }

    var state = State.missing
    var index: Int32 = -1
    var length: UInt32 = 0
  }

  /// A sequenced message of which some fragments were received.
  struct Partial: Sendable, BitwiseCopyable {
    var number: UInt64
    /// The index of the reassembly.
    var index: Int32
  }

  let channel: UInt8
  let delivery: Delivery
  /// The lowest number that is still of interest: the next in order, the lowest that is missing, or
  /// for sequenced messages the successor of the newest one received.
  var next: UInt64 = 0
  /// The state of the messages whose number is `next` or higher. Used only for deliveries that need
  /// every message.
  var window = Deque<Entry>()
  /// The oldest partial message of a `reliableSequenced` lane. It is retained so that some message
  /// is completed even while newer messages keep arriving.
  var oldest: Partial?
  /// The newest partial message of a `reliableSequenced` lane. That message must arrive.
  var newest: Partial?
  /// The position in the ready queue of the sequenced message that the owner has not read.
  var queued: UInt64?

  init(channel: UInt8, delivery: Delivery) {
    self.channel = channel
    self.delivery = delivery
  }

  /// Returns the distance from `next` to the message whose number has the low 16 bits `number` and
  /// is nearest to `next`. Negative for an older message.
  mutating func distance(of number: UInt16) -> Int {
    Int(Int16(bitPattern: number &- UInt16(truncatingIfNeeded: next)))
  }
}
