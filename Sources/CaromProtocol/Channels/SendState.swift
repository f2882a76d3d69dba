import CaromCore

/// The sending state that all send lanes of a connection share.
struct SendState: Sendable {
  // What every packet needs comes last.
  var fragments = FragmentTable()
  var receipts = OpenReceipts()
  /// The credit of each channel, indexed as in `ChannelSet.channels`.
  var credits: [SendCredit] = []
  /// The number of bytes of reliable messages that are queued or unacknowledged, including
  /// `messageCharge` bytes for each message.
  var queuedBytes = 0
  /// The number of acknowledged frames of messages that need credit. The counter wraps around.
  var acknowledgedFrames: UInt32 = 0
  /// Whether a reliable message was refused because the queue was full and no `writable` event has
  /// been emitted since.
  var isBackpressured = false
  /// The counters of the connection's messages in both directions, apart from those that the lanes
  /// count.
  var statistics = ChannelStatistics()
  /// The buffers of the connection's messages in both directions.
  var arena = MessageArena()
  /// The number that `send` will return for the next message.
  var nextTicket: UInt64 = 0
  /// The number of bytes of messages that have not been sent even once. Bytes waiting to be sent
  /// again do not count.
  var pendingBytes = 0
  /// The number of bytes of queued unreliable messages.
  var unreliableBytes: Int32 = 0
  /// The number of queued unreliable messages.
  var unreliableCount: Int32 = 0
  /// The maximum length of a message that fits whole into a packet, in bytes.
  var packetLimit = 1200 - ChannelLimits.wholeReserve
  /// The number of packets filled so far.
  var packetCount: UInt64 = 0
  var redundantSends = RedundantSends()
  var events = Deque<ChannelEvent>()
  /// The earliest deadline of a queued message, in nanoseconds; `.max` if there is none.
  var earliestDeadline = Int64.max

  /// The length in bytes above which a message is bulk.
  var bulkThreshold: Int { min(ChannelLimits.bulkLength, packetLimit) }

  /// Queues an event for the owner. If too many are queued, only counts the event as dropped.
  mutating func emit(_ event: ChannelEvent) {
    guard events.count < ChannelLimits.events else {
      statistics.eventsDropped += 1
      return
    }
    events.append(event)
  }

  /// Adds a newly queued message to the counters.
  mutating func recordQueued(_ message: SendMessage, isReliable: Bool) {
    pendingBytes += Int(message.length)
    if isReliable {
      queuedBytes += message.charge
    } else {
      unreliableBytes += Int32(message.length)
      unreliableCount += 1
    }
    earliestDeadline = min(earliestDeadline, message.deadline)
  }

  /// Updates the counters for a message that has left the queue, whether sent or dropped.
  mutating func recordDequeued(_ message: SendMessage, isReliable: Bool) {
    pendingBytes -= Int(message.length - message.sentBytes)
    guard !isReliable else { return }
    unreliableBytes -= Int32(message.length)
    unreliableCount -= 1
  }

  /// Frees space in the queue of reliable messages, and emits `writable` if backpressure ends.
  mutating func release(_ charge: Int) {
    queuedBytes -= charge
    guard isBackpressured, queuedBytes <= ChannelLimits.writableBytes else { return }
    isBackpressured = false
    emit(.writable)
  }

  /// Drops a message that was not sent completely. If the message was sent with `wantsReceipt`,
  /// emits a receipt that reports it as not delivered. This is rare, so it is never inlined.
  @inline(never)
  mutating func drop(_ message: SendMessage, channel: UInt8, isReliable: Bool) {
    arena.release(message.buffer)
    recordDequeued(message, isReliable: isReliable)
    if isReliable { release(message.charge) }
    guard message.wantsReceipt else { return }
    emit(.receipt(channel: channel, message: message.ticket, delivered: false))
  }

  /// Drops a message because its deadline has passed.
  mutating func expire(_ message: SendMessage, channel: UInt8, isReliable: Bool) {
    statistics.expired += 1
    emit(.expired(channel: channel, message: message.ticket))
    drop(message, channel: channel, isReliable: isReliable)
  }
}

/// The sender's flow-control state for one channel.
struct SendCredit: Sendable, BitwiseCopyable {
  /// The total number of bytes sent, including `messageCharge` bytes for each message.
  /// Retransmitted bytes do not count.
  var sent: UInt64 = 0
  /// The total number of bytes that the peer allows this side to send, including `messageCharge`
  /// bytes for each message.
  var limit = UInt64(ChannelLimits.window)

  var remaining: Int { Int(clamping: limit - sent) }
}
