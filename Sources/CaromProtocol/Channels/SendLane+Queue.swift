import CaromCore

extension SendLane {
  /// Queues a message to be sent. Pass the change to the scheduler.
  mutating func append(
    _ message: SendMessage, _ sendState: inout SendState
  ) -> Scheduler.Change {
    messagesSent += 1
    bytesSent += UInt64(message.length)
    sendState.recordQueued(message, isReliable: delivery.isReliable)
    if isUnordered, Int(message.length) > sendState.bulkThreshold {
      unsentBulk.append(message)
    } else {
      unsent.append(message)
    }
    return updateReadiness(&sendState)
  }

  /// Drops the queued message of a sequenced lane, if there is one, because a newer message
  /// replaces it.
  mutating func replaceUnsent(_ sendState: inout SendState) {
    guard let stale = unsent.popFirst(), !stale.isDone else { return }
    sendState.statistics.replaced += 1
    drop(stale, &sendState)
  }

  /// Drops the oldest message of `unsentBulk` if `isBulk` is true, or of `unsent` otherwise.
  mutating func dropOldest(isBulk: Bool, _ sendState: inout SendState) {
    guard let message = isBulk ? unsentBulk.popFirst() : unsent.popFirst(), !message.isDone
    else { return }
    sendState.statistics.overflowed += 1
    drop(message, &sendState)
  }

  /// Drops expired messages at the front of the queues.
  @inline(__always)
  mutating func dropExpiredFront(at now: Instant, _ sendState: inout SendState) {
    func isExpired(_ message: SendMessage?) -> Bool {
      guard let message else { return false }
      return message.isDone || message.deadline <= now.nanoseconds
    }
    if isExpired(unsent.first) || isExpired(firstBulk) {
      popExpiredFront(at: now, &sendState)
    }
  }

  @inline(never)
  private mutating func popExpiredFront(at now: Instant, _ sendState: inout SendState) {
    while let message = unsent.first, message.isDone || message.deadline <= now.nanoseconds {
      unsent.popFirst()
      if !message.isDone { expire(message, &sendState) }
    }
    while let message = unsentBulk.first, message.isDone || message.deadline <= now.nanoseconds {
      unsentBulk.popFirst()
      if !message.isDone { expire(message, &sendState) }
    }
  }

  /// Drops all expired messages in the queues. Returns the earliest deadline of the remaining
  /// messages, in nanoseconds, or `.max` if none has a deadline.
  mutating func dropAllExpired(at now: Instant, _ sendState: inout SendState) -> Int64 {
    var earliest = Int64.max
    for position in 0..<unsent.count {
      let message = unsent[position]
      if isExpired(message, now, &earliest) {
        unsent[position].buffer = MessageArena.none
        expire(message, &sendState)
      }
    }
    for position in 0..<unsentBulk.count {
      let message = unsentBulk[position]
      if isExpired(message, now, &earliest) {
        unsentBulk[position].buffer = MessageArena.none
        expire(message, &sendState)
      }
    }
    return earliest
  }

  private mutating func isExpired(_ message: SendMessage, _ now: Instant, _ earliest: inout Int64)
    -> Bool
  {
    guard !message.isDone else { return false }
    if message.deadline <= now.nanoseconds { return true }
    earliest = min(earliest, message.deadline)
    return false
  }

  private mutating func expire(_ message: SendMessage, _ sendState: inout SendState) {
    sendState.expire(message, channel: channel, isReliable: delivery.isReliable)
  }

  /// Drops all queued messages and, in an unreliable lane, the partly sent message.
  mutating func dropUnsent(_ sendState: inout SendState) {
    while let message = unsent.popFirst() {
      if !message.isDone { drop(message, &sendState) }
    }
    while let message = unsentBulk.popFirst() {
      if !message.isDone { drop(message, &sendState) }
    }
    guard var message = open else { return }
    open = nil
    openNumber = nil
    // If a fragment was lost, the receipt has already been emitted.
    message.wantsReceipt = sendState.receipts.remove(message.ticket)
    drop(message, &sendState)
  }

  private mutating func drop(_ message: SendMessage, _ sendState: inout SendState) {
    sendState.drop(message, channel: channel, isReliable: delivery.isReliable)
  }

  /// Drops all messages of the lane, both queued and unacknowledged.
  mutating func dropAll(_ sendState: inout SendState) {
    dropUnsent(&sendState)
    for position in 0..<outstanding.count where !outstanding[position].isDone {
      end(position, delivered: false, &sendState)
    }
    openNumber = nil
    removeDone()
    resend.removeAll()
    resendBulk.removeAll()
  }
}
