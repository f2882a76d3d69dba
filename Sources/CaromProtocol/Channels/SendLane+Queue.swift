import CaromCore

extension SendLane {
  /// Queues a message.
  mutating func append(_ message: SendMessage, _ outgoing: inout SendState) {
    outgoing.noteWaiting(message, isReliable: delivery.isReliable)
    if isUnordered, Int(message.length) > outgoing.bulkFrom {
      unsentBulk.append(message)
    } else {
      unsent.append(message)
    }
  }

  /// Drops what the next message of a sequenced mode makes stale.
  mutating func replaceUnsent(_ outgoing: inout SendState) {
    guard let stale = unsent.popFirst(), !stale.isDone else { return }
    outgoing.statistics.replaced += 1
    outgoing.drop(stale, channel: channel, isReliable: delivery.isReliable)
  }

  /// Drops the oldest message that waits, of bulk or of the others.
  mutating func dropOldest(isBulk: Bool, _ outgoing: inout SendState) {
    guard let message = isBulk ? unsentBulk.popFirst() : unsent.popFirst(), !message.isDone
    else { return }
    outgoing.statistics.overflowed += 1
    outgoing.drop(message, channel: channel, isReliable: delivery.isReliable)
  }

  /// Drops the messages at the front that are late.
  mutating func dropLate(at now: Instant, _ outgoing: inout SendState) {
    while let message = unsent.first, message.isDone || message.deadline <= now.nanoseconds {
      unsent.popFirst()
      if !message.isDone { expire(message, &outgoing) }
    }
    while let message = unsentBulk.first, message.isDone || message.deadline <= now.nanoseconds {
      unsentBulk.popFirst()
      if !message.isDone { expire(message, &outgoing) }
    }
  }

  /// Drops all messages that wait and are late; the earliest deadline of the others, nanoseconds.
  mutating func searchLate(at now: Instant, _ outgoing: inout SendState) -> Int64 {
    var earliest = Int64.max
    for position in 0..<unsent.count {
      let message = unsent[position]
      if isLate(message, now, &earliest) {
        unsent[position].buffer = MessageArena.none
        expire(message, &outgoing)
      }
    }
    for position in 0..<unsentBulk.count {
      let message = unsentBulk[position]
      if isLate(message, now, &earliest) {
        unsentBulk[position].buffer = MessageArena.none
        expire(message, &outgoing)
      }
    }
    return earliest
  }

  private mutating func isLate(_ message: SendMessage, _ now: Instant, _ earliest: inout Int64)
    -> Bool
  {
    guard !message.isDone else { return false }
    if message.deadline <= now.nanoseconds { return true }
    earliest = min(earliest, message.deadline)
    return false
  }

  private mutating func expire(_ message: SendMessage, _ outgoing: inout SendState) {
    outgoing.expire(message, channel: channel, isReliable: delivery.isReliable)
  }

  /// Drops everything that has not left, and the rest of what has left in part if it is unreliable.
  mutating func dropWaiting(_ outgoing: inout SendState) {
    while let message = unsent.popFirst() {
      if !message.isDone { drop(message, &outgoing) }
    }
    while let message = unsentBulk.popFirst() {
      if !message.isDone { drop(message, &outgoing) }
    }
    guard let message = open else { return }
    open = nil
    openNumber = nil
    _ = outgoing.receipts.lose(message.ticket)
    drop(message, &outgoing)
  }

  private mutating func drop(_ message: SendMessage, _ outgoing: inout SendState) {
    outgoing.drop(message, channel: channel, isReliable: delivery.isReliable)
  }

  /// Drops everything.
  mutating func dropAll(_ outgoing: inout SendState) {
    dropWaiting(&outgoing)
    for position in 0..<outstanding.count where !outstanding[position].isDone {
      end(position, delivered: false, &outgoing)
    }
    openNumber = nil
    dropDone()
    resend.removeAll()
    resendBulk.removeAll()
  }
}
