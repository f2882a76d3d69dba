import CaromCore

/// The messages that one channel has to send with one kind of delivery.
///
/// A new message is queued in `unsent`. A bulk message of an unordered delivery is queued in
/// `unsentBulk` instead, so that small messages can overtake it. A message is numbered when its
/// first frame is written; a reliable message then moves to `outstanding` until it is acknowledged.
/// Even methods that only read are mutating, so that the lane is accessed in place rather than
/// copied.
struct SendLane: Sendable {
  // What every packet needs comes first.
  /// The number to assign to the next message.
  var next: UInt64 = 0
  /// The number of the partly sent message, which has both sent and unsent fragments; nil if there
  /// is none.
  var openNumber: UInt64?
  let channel: UInt8
  let delivery: Delivery
  /// Whether small messages may overtake bulk messages of the same lane.
  let isUnordered: Bool
  /// Whether any of `unsentBulk`, `resend` and `resendBulk` has an element.
  private(set) var hasBacklog = false
  /// The channel's index in `ChannelSet.channels`.
  private let channelIndex: UInt8
  var share: Scheduler.Share
  /// The number of messages that were queued.
  var messagesSent: UInt64 = 0
  /// The number of bytes of the messages that were queued.
  var bytesSent: UInt64 = 0
  var unsent = SendQueue()

  /// The numbered reliable messages, in order, beginning with the first that is neither
  /// acknowledged nor dropped. Its number is `base`.
  var outstanding = Deque<SendMessage>()
  var base: UInt64 = 0
  /// The partly sent message if it is unreliable. A partly sent reliable message is in
  /// `outstanding`.
  @Boxed var open: SendMessage?
  var unsentBulk = Deque<SendMessage>() { didSet { updateHasBacklog() } }
  /// The numbers of lost messages that must be retransmitted whole.
  var resend = Deque<UInt64>() { didSet { updateHasBacklog() } }
  /// The numbers of fragmented messages with lost bytes that must be retransmitted.
  var resendBulk = Deque<UInt64>() { didSet { updateHasBacklog() } }

  init(channel: UInt8, delivery: Delivery, channelIndex: Int, plan: ChannelPlan) {
    self.channel = channel
    self.delivery = delivery
    isUnordered = delivery == .unreliable || delivery == .reliableUnordered
    self.channelIndex = UInt8(channelIndex)
    share = Scheduler.Share(plan)
  }

  private mutating func updateHasBacklog() {
    hasBacklog = !unsentBulk.isEmpty || !resend.isEmpty || !resendBulk.isEmpty
  }

  /// Whether a message, or a part of one, is still to be sent for the first time.
  var hasUnsent: Bool { !unsent.isEmpty || !unsentBulk.isEmpty || openNumber != nil }

  /// Returns the index in `outstanding` of the message with this number, or `nil` if the message
  /// has been acknowledged or dropped.
  mutating func position(of number: UInt64) -> Int? {
    guard number >= base, number - base < UInt64(outstanding.count) else { return nil }
    let position = Int(number - base)
    return outstanding[position].isDone ? nil : position
  }

  /// Returns whether the limit on unacknowledged messages allows another message.
  @inline(__always) mutating func hasWindow() -> Bool {
    !delivery.isReliable || outstanding.count < ChannelLimits.outstandingMessages
  }

  /// Returns the number of bytes that the peer's credit allows this lane to send; `.max` if the
  /// lane's delivery needs no credit.
  @inline(__always) mutating func credit(_ sendState: inout SendState) -> Int {
    delivery.needsCredit ? sendState.credits[Int(channelIndex)].remaining : .max
  }

  /// Counts sent bytes against the channel's credit.
  @inline(__always) mutating func spendCredit(_ count: Int, _ sendState: inout SendState) {
    if delivery.needsCredit { sendState.credits[Int(channelIndex)].sent += UInt64(count) }
  }

  /// Returns the kind of message that the lane can send now, for the scheduler.
  mutating func readiness(_ sendState: inout SendState) -> Scheduler.Readiness {
    if unsent.first?.isDone == true || firstBulk?.isDone == true { dropDoneFront() }
    if hasBacklog, !resend.isEmpty { return .small }
    let credit = credit(&sendState)
    let bulkThreshold = sendState.bulkThreshold
    if hasWindow(), isUnordered || openNumber == nil, let message = unsent.first,
      message.length <= bulkThreshold, message.charge <= credit
    {
      return .small
    }
    return isBulkReady(credit, bulkThreshold) ? .bulk : .idle
  }

  /// Drops the messages at the front of the queues that have been dropped before.
  @inline(never) private mutating func dropDoneFront() {
    while let first = unsent.first, first.isDone { unsent.popFirst() }
    while let first = unsentBulk.first, first.isDone { unsentBulk.popFirst() }
  }

  private mutating func isBulkReady(_ credit: Int, _ bulkThreshold: Int) -> Bool {
    if hasBacklog, !resendBulk.isEmpty { return true }
    if let number = openNumber {
      let message = open ?? outstanding[Int(number - base)]
      return credit >= min(ChannelLimits.fragmentLength, Int(message.length - message.sentBytes))
    }
    let isFrontSmall = isFrontSmall(bulkThreshold)
    guard hasBacklog || !isFrontSmall, hasWindow(),
      let message = isFrontSmall ? unsentBulk.first : unsent.first
    else { return false }
    let least = min(ChannelLimits.fragmentLength, Int(message.length)) + ChannelLimits.messageCharge
    return credit >= least
  }

  /// Returns true if `unsent` is empty or begins with a small message. In both cases the next bulk
  /// message, if any, is the first one in `unsentBulk`.
  @inline(__always) mutating func isFrontSmall(_ bulkThreshold: Int) -> Bool {
    guard let message = unsent.first else { return true }
    return message.length <= bulkThreshold
  }

  /// The first message of `unsentBulk`; nil if there is none.
  @inline(__always) var firstBulk: SendMessage? { hasBacklog ? unsentBulk.first : nil }

  /// Removes the messages at the front of `outstanding` that have been acknowledged or dropped.
  mutating func removeDone() {
    while let first = outstanding.first, first.isDone {
      outstanding.popFirst()
      base += 1
    }
  }

  /// Frees queue capacity that is no longer used.
  mutating func trim() {
    unsent.trim()
    unsentBulk.trim()
    outstanding.trim()
    resend.trim()
    resendBulk.trim()
  }
}
