/// The messages of one channel and mode at their sender.
///
/// A message waits in `unsent` (bulk of modes without order in `unsentBulk`, so that small ones
/// pass it), gets its number when the first of it leaves, and stays in `outstanding` until it is
/// acknowledged if its mode is reliable.
struct SendLane: Sendable {
  /// What the lane could send at once.
  enum Readiness: UInt8, Sendable {
    case idle
    /// Only messages that are bulk.
    case bulk
    case small
  }

  let channel: UInt8
  let mode: MessageMode
  var unsent = Ring<SendMessage>()
  var unsentBulk = Ring<SendMessage>()
  /// Reliable messages that have a number: the first has `base`.
  var outstanding = Ring<SendMessage>()
  var base: UInt64 = 0
  /// The number that the next message gets.
  var next: UInt64 = 0
  /// The message that has left in part, by its number; the message itself is here if its mode is
  /// unreliable and in `outstanding` if not.
  var openNumber: UInt64?
  var open: SendMessage?
  /// Numbers of whole messages, and of cut ones, that are to be sent again.
  var resend = Ring<UInt64>()
  var resendBulk = Ring<UInt64>()

  var plan: ChannelPlan
  var readiness = Readiness.idle
  var isScheduled = false
  /// Bytes that it may send before the next lane of its level.
  var deficit = 0
  /// The round of its level in which the deficit was given.
  var round: UInt64 = 0

  init(channel: UInt8, mode: MessageMode, plan: ChannelPlan) {
    self.channel = channel
    self.mode = mode
    self.plan = plan
  }

  /// Whether small messages may pass bulk of the same lane.
  var isUnordered: Bool { mode == .unreliable || mode == .reliableUnordered }

  /// The place in `outstanding` of the message with this number, if it is not done.
  func position(of number: UInt64) -> Int? {
    guard number >= base, number - base < UInt64(outstanding.count) else { return nil }
    let position = Int(number - base)
    return outstanding[position].isDone ? nil : position
  }

  /// Forgets the messages at the front that are done.
  mutating func dropDone() {
    while let first = outstanding.first, first.isDone {
      outstanding.popFirst()
      base += 1
    }
  }

  mutating func trim() {
    unsent.trim()
    unsentBulk.trim()
    outstanding.trim()
    resend.trim()
    resendBulk.trim()
  }
}
