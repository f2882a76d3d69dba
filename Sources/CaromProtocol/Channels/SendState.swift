import CaromCore

/// What the lanes that send share.
struct SendState: Sendable {
  var arena = MessageArena()
  var pieces = PieceTable()
  var riders = Riders()
  var receipts = OpenReceipts()
  /// By the places of the channels.
  var credits: [SendCredit] = []
  var events = Deque<ChannelEvent>()
  var statistics = ChannelStatistics()

  var nextTicket: UInt64 = 0
  /// Packets that were filled.
  var packetCount: UInt64 = 0
  /// What a packet takes of a whole message, bytes.
  var packetLimit = 1200 - ChannelLimits.wholeReserve
  /// Nanoseconds; `.max` for none.
  var earliestDeadline = Int64.max
  /// Bytes of reliable messages that are not acknowledged, charges included.
  var queuedBytes = 0
  /// Bytes that have not left yet, not counting those to be sent again.
  var pendingBytes = 0
  var unreliableBytes = 0
  var unreliableCount = 0
  /// Whether a message was refused since there was no room.
  var wantsRoom = false

  /// Messages longer than this are bulk.
  var bulkFrom: Int { min(ChannelLimits.bulkLength, packetLimit) }

  mutating func tell(_ event: ChannelEvent) {
    guard events.count < ChannelLimits.events else {
      statistics.eventsDropped += 1
      return
    }
    events.append(event)
  }

  /// Counts a message that waits from now on.
  mutating func noteWaiting(_ message: SendMessage, isReliable: Bool) {
    statistics.messagesSent += 1
    pendingBytes += Int(message.length)
    if isReliable {
      queuedBytes += message.charge
    } else {
      unreliableBytes += Int(message.length)
      unreliableCount += 1
    }
    earliestDeadline = min(earliestDeadline, message.deadline)
  }

  /// Counts that a message waits no longer.
  mutating func noteBegun(_ message: SendMessage, isReliable: Bool) {
    pendingBytes -= Int(message.length - message.begun)
    guard !isReliable else { return }
    unreliableBytes -= Int(message.length)
    unreliableCount -= 1
  }

  /// Gives back room in the queue of reliable messages.
  mutating func release(_ charge: Int) {
    queuedBytes -= charge
    guard wantsRoom, queuedBytes <= ChannelLimits.writableBytes else { return }
    wantsRoom = false
    tell(.writable)
  }

  /// Ends a message that has not left, or not all of it; its owner hears that it was not delivered.
  mutating func drop(_ message: SendMessage, channel: UInt8, isReliable: Bool) {
    arena.release(message.buffer)
    noteBegun(message, isReliable: isReliable)
    if isReliable { release(message.charge) }
    guard message.wantsReceipt else { return }
    tell(.receipt(channel: channel, message: message.ticket, delivered: false))
  }

  /// Drops a message whose deadline has passed.
  mutating func expire(_ message: SendMessage, channel: UInt8, isReliable: Bool) {
    statistics.expired += 1
    tell(.expired(channel: channel, message: message.ticket))
    drop(message, channel: channel, isReliable: isReliable)
  }
}
