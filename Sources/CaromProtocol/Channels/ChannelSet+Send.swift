import CaromCore

extension ChannelSet {
  /// How often messages that wait are looked through for those that are late, nanoseconds; what is
  /// late never leaves in any case.
  private static let deadlineStep: Int64 = 5_000_000

  /// Takes a message to be sent and returns a name for it, which events use.
  ///
  /// Unreliable messages are always taken: when too much waits, the oldest are dropped.
  @discardableResult
  package mutating func send(
    _ bytes: Span<UInt8>, on channel: UInt8, _ options: SendOptions, at now: Instant
  ) throws(SendError) -> UInt64 {
    let limit = ChannelLimits.length(of: options.delivery)
    guard bytes.count <= limit else { throw .tooLarge(size: bytes.count, limit: limit) }
    let lane = makeSendLane(channel, options.delivery, options.plan)
    if options.delivery.isReliable {
      try makeRoom(for: bytes.count, lane)
    } else {
      dropOldest(for: bytes.count, lane)
    }
    let ticket = outgoing.nextTicket
    outgoing.nextTicket += 1
    let message = SendMessage(
      ticket: ticket, deadline: options.deadline?.nanoseconds ?? .max,
      buffer: outgoing.arena.store(bytes), length: UInt32(bytes.count),
      wantsReceipt: options.wantsReceipt)
    lanes[lane].append(message, &outgoing)
    let index = lanes[lane].channelIndex
    channels[index].traffic.messagesSent += 1
    channels[index].traffic.bytesSent += UInt64(bytes.count)
    refresh(lane)
    return ticket
  }

  /// The lane of a channel and mode, if it was ever used. Mutating so that nothing is copied.
  mutating func sendLane(of channel: UInt8, _ delivery: Delivery) -> Int? {
    let index = channelTable[Int(channel)]
    guard index != .max else { return nil }
    let lane = channels[Int(index)].sends[Int(delivery.rawValue)]
    return lane == Self.absent ? nil : Int(lane)
  }

  private mutating func makeSendLane(
    _ channel: UInt8, _ delivery: Delivery, _ plan: ChannelPlan?
  ) -> Int {
    precondition(channel <= ChannelLimits.sessionChannel, "a channel is 0 to 64")
    if let lane = sendLane(of: channel, delivery) { return lane }
    if let plan { setPlan(plan, for: channel) }
    let index = self.channel(channel)
    lanes.append(SendLane(channel: channel, delivery: delivery, channelIndex: index))
    scheduler.add(channels[index].plan, isReliable: delivery.isReliable)
    channels[index].sends[Int(delivery.rawValue)] = UInt16(lanes.count - 1)
    return lanes.count - 1
  }

  private mutating func makeRoom(for length: Int, _ lane: Int) throws(SendError) {
    let isSequenced = lanes[lane].delivery.isSequenced
    let stale = isSequenced ? lanes[lane].unsent.first?.charge ?? 0 : 0
    let isSession = lanes[lane].channel == ChannelLimits.sessionChannel
    let limit = ChannelLimits.sendBytes + (isSession ? ChannelLimits.sessionBytes : 0)
    let queued = outgoing.queuedBytes - stale
    guard queued + length + ChannelLimits.messageCharge <= limit else {
      outgoing.wantsRoom = true
      throw .queueFull(queued: outgoing.queuedBytes)
    }
    if isSequenced { lanes[lane].replaceUnsent(&outgoing) }
  }

  /// Makes room among the unreliable messages: the oldest go first.
  private mutating func dropOldest(for length: Int, _ lane: Int) {
    if lanes[lane].delivery.isSequenced { lanes[lane].replaceUnsent(&outgoing) }
    while outgoing.unreliableBytes + length > ChannelLimits.unreliableSendBytes
      || outgoing.unreliableCount >= ChannelLimits.unreliableSendMessages,
      let oldest = oldestUnreliable()
    {
      lanes[oldest.lane].dropOldest(isBulk: oldest.isBulk, &outgoing)
      refresh(oldest.lane)
    }
  }

  private mutating func oldestUnreliable() -> (lane: Int, isBulk: Bool)? {
    var oldest: (lane: Int, isBulk: Bool)?
    var ticket = UInt64.max
    for lane in lanes.indices where !lanes[lane].delivery.isReliable {
      if let message = lanes[lane].unsent.first, message.ticket < ticket {
        (ticket, oldest) = (message.ticket, (lane, false))
      }
      if let message = lanes[lane].unsentBulk.first, message.ticket < ticket {
        (ticket, oldest) = (message.ticket, (lane, true))
      }
    }
    return oldest
  }

  /// Says anew what the lane could send.
  mutating func refresh(_ lane: Int) {
    scheduler.set(lanes[lane].readiness(&outgoing), of: lane)
  }

  /// When a message may be late that has not left.
  @inline(__always) package var nextTimeout: Instant? {
    guard outgoing.earliestDeadline != .max else { return nil }
    return max(
      Instant(nanoseconds: outgoing.earliestDeadline),
      lastSearch.advanced(byNanoseconds: Self.deadlineStep))
  }

  /// Drops the messages that have not left and are late.
  package mutating func handleTimeout(at now: Instant) {
    guard let next = nextTimeout, now >= next else { return }
    lastSearch = now
    var earliest = Int64.max
    for lane in lanes.indices {
      earliest = min(earliest, lanes[lane].searchLate(at: now, &outgoing))
      refresh(lane)
    }
    outgoing.earliestDeadline = earliest
  }
}
