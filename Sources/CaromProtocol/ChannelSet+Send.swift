import CaromCore

extension ChannelSet {
  /// Takes a message to be sent and returns a name for it, which events use.
  ///
  /// Unreliable messages are always taken: when too much waits, the oldest are dropped.
  @discardableResult
  package mutating func send(
    _ bytes: Span<UInt8>, on channel: UInt8, _ options: SendOptions, at now: Instant
  ) throws(SendError) -> UInt64 {
    clock = now
    let mode = options.mode
    let limit = ChannelLimits.length(of: mode)
    guard bytes.count <= limit else { throw .tooLarge(size: bytes.count, limit: limit) }
    let lane = sendLane(channel, mode)
    try makeRoom(for: bytes.count, lane)
    let ticket = nextTicket
    nextTicket += 1
    let message = SendMessage(
      ticket: ticket, deadline: options.deadline?.nanoseconds ?? .max,
      buffer: arena.store(bytes), length: UInt32(bytes.count), wantsReceipt: options.wantsReceipt)
    enqueue(message, lane)
    refresh(lane)
    return ticket
  }

  private mutating func enqueue(_ message: SendMessage, _ lane: Int) {
    statistics.messagesSent += 1
    pendingBytes += Int(message.length)
    if lanes[lane].mode.isReliable {
      queuedBytes += message.charge
    } else {
      unreliableBytes += Int(message.length)
      unreliableCount += 1
    }
    earliestDeadline = min(earliestDeadline, message.deadline)
    if lanes[lane].isUnordered, Int(message.length) > bulkFrom {
      lanes[lane].unsentBulk.append(message)
    } else {
      lanes[lane].unsent.append(message)
    }
  }

  /// Messages longer than this are bulk.
  var bulkFrom: Int { min(ChannelLimits.bulkLength, packetLimit) }

  mutating func sendLane(_ channel: UInt8, _ mode: MessageMode) -> Int {
    precondition(channel <= ChannelLimits.sessionChannel, "a channel is 0 to 64")
    let entry = Int(channel) * Self.modes + Int(mode.rawValue)
    let known = laneTable[entry]
    if known != Self.absent { return Int(known) }
    let plan = channels[self.channel(channel)].plan
    lanes.append(SendLane(channel: channel, mode: mode))
    scheduler.add(plan, isReliable: mode.isReliable)
    laneTable[entry] = UInt16(lanes.count - 1)
    return lanes.count - 1
  }

  private mutating func makeRoom(for length: Int, _ lane: Int) throws(SendError) {
    let mode = lanes[lane].mode
    guard mode.isReliable else {
      if mode == .unreliableSequenced { replaceUnsent(lane) }
      return dropOldest(for: length)
    }
    let stale = mode == .reliableSequenced ? lanes[lane].unsent.first?.charge ?? 0 : 0
    let isSession = lanes[lane].channel == ChannelLimits.sessionChannel
    let limit = ChannelLimits.sendBytes + (isSession ? ChannelLimits.sessionBytes : 0)
    guard queuedBytes - stale + length + ChannelLimits.messageCharge <= limit else {
      wantsRoom = true
      throw .queueFull(queued: queuedBytes)
    }
    if mode == .reliableSequenced { replaceUnsent(lane) }
  }

  /// Drops what the next message of a sequenced mode makes stale.
  private mutating func replaceUnsent(_ lane: Int) {
    guard let stale = lanes[lane].unsent.popFirst(), !stale.isDone else { return }
    statistics.replaced += 1
    drop(stale, lane)
  }

  /// Makes room among the unreliable messages: the oldest go first.
  private mutating func dropOldest(for length: Int) {
    while unreliableCount > 0,
      unreliableBytes + length > ChannelLimits.unreliableSendBytes
        || unreliableCount >= ChannelLimits.unreliableSendMessages
    {
      guard let (lane, isBulk) = oldestUnreliable() else { return }
      let message = isBulk ? lanes[lane].unsentBulk.popFirst() : lanes[lane].unsent.popFirst()
      guard let message, !message.isDone else { continue }
      statistics.overflowed += 1
      drop(message, lane)
      refresh(lane)
    }
  }

  private func oldestUnreliable() -> (lane: Int, isBulk: Bool)? {
    var oldest: (lane: Int, isBulk: Bool)?
    var ticket = UInt64.max
    for lane in lanes.indices where !lanes[lane].mode.isReliable {
      if let message = lanes[lane].unsent.first, message.ticket < ticket {
        (ticket, oldest) = (message.ticket, (lane, false))
      }
      if let message = lanes[lane].unsentBulk.first, message.ticket < ticket {
        (ticket, oldest) = (message.ticket, (lane, true))
      }
    }
    return oldest
  }

  /// Ends a message of which nothing has left; its owner hears that it was not delivered.
  mutating func drop(_ message: SendMessage, _ lane: Int) {
    arena.release(message.buffer)
    noteBegun(message, lane)
    if lanes[lane].mode.isReliable { release(message.charge) }
    if message.wantsReceipt {
      tell(
        .receipt(channel: lanes[lane].channel, message: message.ticket, delivered: false))
    }
  }

  /// Counts that a message waits no longer.
  mutating func noteBegun(_ message: SendMessage, _ lane: Int) {
    pendingBytes -= Int(message.length - message.begun)
    guard !lanes[lane].mode.isReliable else { return }
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

  /// Says anew what the lane could send.
  mutating func refresh(_ lane: Int) {
    while let first = lanes[lane].unsent.first, first.isDone { lanes[lane].unsent.popFirst() }
    while let first = lanes[lane].unsentBulk.first, first.isDone {
      lanes[lane].unsentBulk.popFirst()
    }
    let readiness = lanes[lane].readiness(credit: credit(of: lane), bulkFrom: bulkFrom)
    scheduler.set(readiness, of: lane)
  }

  /// How many bytes the peer lets this lane send.
  func credit(of lane: Int) -> Int {
    guard lanes[lane].mode.needsCredit else { return .max }
    let channel = channels[Int(channelTable[Int(lanes[lane].channel)])]
    return Int(clamping: channel.sendLimit - channel.sent)
  }
}

// MARK: Deadlines

extension ChannelSet {
  /// How often messages that wait are looked through for those that are late, nanoseconds; what is
  /// late never leaves in any case.
  private static let deadlineStep: Int64 = 5_000_000

  /// When a message may be late that has not left.
  package var nextTimeout: Instant? {
    guard earliestDeadline != .max else { return nil }
    return max(
      Instant(nanoseconds: earliestDeadline),
      lastSearch.advanced(byNanoseconds: Self.deadlineStep))
  }

  /// Drops the messages that have not left and are late.
  package mutating func handleTimeout(at now: Instant) {
    guard let next = nextTimeout, now >= next else { return }
    clock = now
    lastSearch = now
    var earliest = Int64.max
    for lane in lanes.indices {
      for position in 0..<lanes[lane].unsent.count {
        let message = lanes[lane].unsent[position]
        guard !message.isDone else { continue }
        if message.deadline <= now.nanoseconds {
          lanes[lane].unsent[position].buffer = MessageArena.none
          expire(message, lane)
        } else {
          earliest = min(earliest, message.deadline)
        }
      }
      for position in 0..<lanes[lane].unsentBulk.count {
        let message = lanes[lane].unsentBulk[position]
        guard !message.isDone else { continue }
        if message.deadline <= now.nanoseconds {
          lanes[lane].unsentBulk[position].buffer = MessageArena.none
          expire(message, lane)
        } else {
          earliest = min(earliest, message.deadline)
        }
      }
      refresh(lane)
    }
    earliestDeadline = earliest
  }

  mutating func expire(_ message: SendMessage, _ lane: Int) {
    statistics.expired += 1
    tell(.expired(channel: lanes[lane].channel, message: message.ticket))
    drop(message, lane)
  }
}
