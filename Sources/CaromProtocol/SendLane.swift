/// The messages of one channel and mode at their sender.
///
/// A message waits in `unsent` (bulk of modes without order in `unsentBulk`, so that small ones
/// pass it), gets its number when the first of it leaves, and stays in `outstanding` until it is
/// acknowledged if its mode is reliable.
struct SendLane: Sendable {
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

  init(channel: UInt8, mode: MessageMode) {
    self.channel = channel
    self.mode = mode
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

  /// Whether one more message may be on its way.
  var hasWindow: Bool {
    !mode.isReliable || outstanding.count < ChannelLimits.outstandingMessages
  }

  /// What the lane could send, with so much credit, where longer messages than `bulkFrom` are bulk.
  func readiness(credit: Int, bulkFrom: Int) -> Scheduler.Readiness {
    if !resend.isEmpty { return .small }
    if hasWindow, isUnordered || openNumber == nil, let message = unsent.first,
      message.length <= bulkFrom, message.charge <= credit
    {
      return .small
    }
    if !resendBulk.isEmpty { return .bulk }
    if let number = openNumber {
      let message = open ?? outstanding[Int(number - base)]
      return credit >= min(ChannelLimits.pieceLength, Int(message.length - message.begun))
        ? .bulk : .idle
    }
    guard hasWindow, let message = firstBulk(from: bulkFrom) else { return .idle }
    let least = min(ChannelLimits.pieceLength, Int(message.length)) + ChannelLimits.messageCharge
    return credit >= least ? .bulk : .idle
  }

  /// The message that would begin to leave next, if it is bulk.
  func firstBulk(from length: Int) -> SendMessage? {
    if let message = unsent.first { return message.length > length ? message : unsentBulk.first }
    return unsentBulk.first
  }

  mutating func trim() {
    unsent.trim()
    unsentBulk.trim()
    outstanding.trim()
    resend.trim()
    resendBulk.trim()
  }
}
