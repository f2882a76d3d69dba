import CaromCore

extension ChannelSet {
  /// The minimum interval between searches for queued messages whose deadline has passed, in
  /// nanoseconds: 5 ms. The expiry of a message may be reported up to this much late, but an
  /// expired message is never sent.
  private static let expirySearchInterval: Int64 = 5_000_000

  /// Queues a message and returns the number that identifies it in events.
  ///
  /// An unreliable message is always accepted. If too many are queued, the oldest ones are dropped.
  @discardableResult
  package mutating func send(
    _ bytes: Span<UInt8>, on channel: UInt8, _ options: SendOptions, at now: Instant
  ) throws(SendError) -> UInt64 {
    let limit = ChannelLimits.length(of: options.delivery)
    guard bytes.count <= limit else { throw .tooLarge(size: bytes.count, limit: limit) }
    let lane = makeSendLane(channel, options.delivery, options.plan)
    if options.delivery.isReliable {
      try reserveSpace(for: bytes.count, lane)
    } else {
      dropOldest(for: bytes.count, lane, options.delivery)
    }
    let ticket = sendState.nextTicket
    sendState.nextTicket += 1
    let message = SendMessage(
      ticket: ticket, deadline: options.deadline?.nanoseconds ?? .max,
      buffer: sendState.arena.store(bytes), length: UInt32(bytes.count),
      wantsReceipt: options.wantsReceipt)
    let change = lanes[lane].append(message, &sendState)
    scheduler.record(change, of: lane, in: &lanes)
    return ticket
  }

  /// Returns the index of the send lane for a channel and delivery, or `nil` if the lane does not
  /// exist yet. The method is mutating so that `self` is accessed in place rather than copied.
  mutating func sendLane(of channel: UInt8, _ delivery: Delivery) -> Int? {
    let index = channelTable[Int(channel)]
    guard index != .max else { return nil }
    let lane = channels[Int(index)].sends[Int(delivery.rawValue)]
    return lane == Self.absent ? nil : Int(lane)
  }

  private mutating func makeSendLane(
    _ channel: UInt8, _ delivery: Delivery, _ plan: ChannelPlan?
  ) -> Int {
    if let lane = lastSent.index(of: channel, delivery) { return lane }
    precondition(channel <= ChannelLimits.sessionChannel, "a channel is 0 to 64")
    let lane = sendLane(of: channel, delivery) ?? addSendLane(channel, delivery, plan)
    lastSent.set(lane, of: channel, delivery)
    return lane
  }

  private mutating func addSendLane(
    _ channel: UInt8, _ delivery: Delivery, _ plan: ChannelPlan?
  ) -> Int {
    if let plan { setPlan(plan, for: channel) }
    let index = self.index(ofChannel: channel)
    lanes.append(
      SendLane(
        channel: channel, delivery: delivery, channelIndex: index, plan: channels[index].plan))
    channels[index].sends[Int(delivery.rawValue)] = UInt16(lanes.count - 1)
    return lanes.count - 1
  }

  /// Throws `queueFull` if a reliable message of `length` bytes does not fit in the send queue.
  /// Otherwise, if the lane is sequenced, drops the queued message that the new message replaces.
  private mutating func reserveSpace(for length: Int, _ lane: Int) throws(SendError) {
    let isSequenced = lanes[lane].delivery.isSequenced
    let stale = isSequenced ? lanes[lane].unsent.first?.charge ?? 0 : 0
    let isSession = lanes[lane].channel == ChannelLimits.sessionChannel
    let limit = ChannelLimits.sendBytes + (isSession ? ChannelLimits.sessionBytes : 0)
    let queued = sendState.queuedBytes - stale
    guard queued + length + ChannelLimits.messageCharge <= limit else {
      sendState.isBackpressured = true
      throw .queueFull(queued: sendState.queuedBytes)
    }
    if isSequenced { lanes[lane].replaceUnsent(&sendState) }
  }

  /// Drops queued unreliable messages, beginning with the oldest, until a message of `length` bytes
  /// fits. On a sequenced lane, also drops the queued message that the new message replaces.
  private mutating func dropOldest(for length: Int, _ lane: Int, _ delivery: Delivery) {
    if delivery.isSequenced { lanes[lane].replaceUnsent(&sendState) }
    while Int(sendState.unreliableBytes) + length > ChannelLimits.unreliableSendBytes
      || sendState.unreliableCount >= ChannelLimits.unreliableSendMessages,
      let oldest = oldestUnreliable()
    {
      lanes[oldest.lane].dropOldest(isBulk: oldest.isBulk, &sendState)
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

  /// Recomputes the lane's readiness to send and passes it to the scheduler.
  mutating func refresh(_ lane: Int) {
    let change = lanes[lane].updateReadiness(&sendState)
    scheduler.record(change, of: lane, in: &lanes)
  }

  /// The next time at which `handleTimeout` must be called to drop expired messages, or `nil` if no
  /// queued message has a deadline.
  @inline(__always) package var nextTimeout: Instant? {
    guard sendState.earliestDeadline != .max else { return nil }
    return max(
      Instant(nanoseconds: sendState.earliestDeadline),
      lastExpirySearch.advanced(byNanoseconds: Self.expirySearchInterval))
  }

  /// Drops the queued messages whose deadline has passed.
  package mutating func handleTimeout(at now: Instant) {
    guard let next = nextTimeout, now >= next else { return }
    lastExpirySearch = now
    var earliest = Int64.max
    for lane in lanes.indices {
      earliest = min(earliest, lanes[lane].dropAllExpired(at: now, &sendState))
      refresh(lane)
    }
    sendState.earliestDeadline = earliest
  }
}
