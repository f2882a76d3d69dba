import CaromCore

/// The messages of one channel and mode at their sender.
///
/// A message waits in `unsent` (bulk of modes without order in `unsentBulk`, so that small ones
/// pass it), gets its number when the first of it leaves, and stays in `outstanding` until it is
/// acknowledged if its mode is reliable. Methods are mutating even where they only read, so that
/// they work on the lane where it lies.
struct SendLane: Sendable {
  let channel: UInt8
  let delivery: Delivery
  /// Whether small messages may pass bulk of the same lane.
  let isUnordered: Bool
  /// The channel's place among all that were used.
  let channelIndex: Int
  var unsent = Deque<SendMessage>()
  var unsentBulk = Deque<SendMessage>()
  /// Reliable messages that have a number: the first has `base`.
  var outstanding = Deque<SendMessage>()
  var base: UInt64 = 0
  /// The number that the next message gets.
  var next: UInt64 = 0
  /// The message that has left in part, by its number; the message itself is here if its mode is
  /// unreliable and in `outstanding` if not.
  var openNumber: UInt64?
  var open: SendMessage?
  /// Numbers of whole messages, and of cut ones, that are to be sent again.
  var resend = Deque<UInt64>()
  var resendBulk = Deque<UInt64>()

  init(channel: UInt8, delivery: Delivery, channelIndex: Int) {
    self.channel = channel
    self.delivery = delivery
    isUnordered = delivery == .unreliable || delivery == .reliableUnordered
    self.channelIndex = channelIndex
  }

  /// The place in `outstanding` of the message with this number, if it is not done.
  mutating func position(of number: UInt64) -> Int? {
    guard number >= base, number - base < UInt64(outstanding.count) else { return nil }
    let position = Int(number - base)
    return outstanding[position].isDone ? nil : position
  }

  /// Whether one more message may be on its way.
  mutating func hasWindow() -> Bool {
    !delivery.isReliable || outstanding.count < ChannelLimits.outstandingMessages
  }

  /// How many bytes the peer lets this lane send.
  mutating func credit(_ outgoing: inout SendState) -> Int {
    delivery.needsCredit ? outgoing.credits[channelIndex].left : .max
  }

  /// Counts bytes against the channel's credit.
  mutating func pay(_ count: Int, _ outgoing: inout SendState) {
    if delivery.needsCredit { outgoing.credits[channelIndex].sent += UInt64(count) }
  }

  /// What the lane could send now.
  mutating func readiness(_ outgoing: inout SendState) -> Scheduler.Readiness {
    while let first = unsent.first, first.isDone { unsent.popFirst() }
    while let first = unsentBulk.first, first.isDone { unsentBulk.popFirst() }
    if !resend.isEmpty { return .small }
    let credit = credit(&outgoing)
    let bulkFrom = outgoing.bulkFrom
    if hasWindow(), isUnordered || openNumber == nil, let message = unsent.first,
      message.length <= bulkFrom, message.charge <= credit
    {
      return .small
    }
    return isBulkReady(credit, bulkFrom) ? .bulk : .idle
  }

  private mutating func isBulkReady(_ credit: Int, _ bulkFrom: Int) -> Bool {
    if !resendBulk.isEmpty { return true }
    if let number = openNumber {
      let message = open ?? outstanding[Int(number - base)]
      return credit >= min(ChannelLimits.pieceLength, Int(message.length - message.begun))
    }
    guard hasWindow(), let message = isFrontSmall(bulkFrom) ? unsentBulk.first : unsent.first
    else { return false }
    let least = min(ChannelLimits.pieceLength, Int(message.length)) + ChannelLimits.messageCharge
    return credit >= least
  }

  /// Whether bulk is to be looked for in `unsentBulk`: no bulk waits in front of `unsent`.
  mutating func isFrontSmall(_ bulkFrom: Int) -> Bool {
    guard let message = unsent.first else { return true }
    return message.length <= bulkFrom
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
