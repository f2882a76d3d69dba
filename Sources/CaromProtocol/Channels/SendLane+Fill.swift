import CaromCore

// The private methods below that return a `Bool` return `false` only if the next frame does not fit
// into the packet. They return `true` both after writing a frame and if there is nothing to write.
extension SendLane {
  /// Writes frames until the lane's turn ends or its next frame does not fit. Also returns how what
  /// the lane can send has changed.
  mutating func takeTurn(
    _ sendState: inout SendState, _ writer: inout FrameWriter, _ records: inout [FrameRecord],
    _ filling: inout Filling
  ) -> (Filling.Turn, Scheduler.Change) {
    let before = share.readiness
    var turn: Filling.Turn
    var hasTurn: Bool
    repeat {
      let start = writer.count
      let hasRoom = serve(&sendState, &writer, &records, filling)
      let count = writer.count - start
      let readiness = updateReadiness(&sendState).after
      turn = count > 0 ? .wrote : hasRoom ? .nothing : .noRoom
      hasTurn =
        count > 0 && share.charge(count) && writer.room > 2
        && (readiness == .small || readiness == .bulk && filling.includeBulk)
      if count > 0 { filling.hasMessage = true }
    } while hasTurn
    return (turn, Scheduler.Change(before: before, after: share.readiness))
  }

  /// Recomputes what the lane can send. Pass the change to the scheduler.
  mutating func updateReadiness(_ sendState: inout SendState) -> Scheduler.Change {
    share.set(readiness(&sendState))
  }

  /// Writes at most one frame. Lost messages are sent before new ones. In an unordered lane, small
  /// messages are sent before bulk messages.
  private mutating func serve(
    _ sendState: inout SendState, _ writer: inout FrameWriter, _ records: inout [FrameRecord],
    _ filling: Filling
  ) -> Bool {
    let before = writer.count
    var hasRoom = true
    if hasBacklog, !resend.isEmpty {
      hasRoom = resendMessage(&sendState, &writer, &records, filling)
    }
    if hasBacklog, hasRoom, writer.count == before, filling.includeBulk, !isUnordered,
      !resendBulk.isEmpty
    {
      hasRoom = resendFragment(&sendState, &writer, &records)
    }
    if hasRoom, writer.count == before, isUnordered || openNumber == nil {
      hasRoom = sendNext(&sendState, &writer, &records, filling, isBulk: false)
    }
    if hasRoom, writer.count == before, filling.includeBulk {
      hasRoom = serveBulk(&sendState, &writer, &records, filling)
    }
    return hasRoom
  }

  private mutating func serveBulk(
    _ sendState: inout SendState, _ writer: inout FrameWriter, _ records: inout [FrameRecord],
    _ filling: Filling
  ) -> Bool {
    let before = writer.count
    if hasBacklog, !resendBulk.isEmpty {
      let hasRoom = resendFragment(&sendState, &writer, &records)
      guard hasRoom, writer.count == before else { return hasRoom }
    }
    if openNumber != nil { return sendNextFragment(&sendState, &writer, &records) }
    return sendNext(&sendState, &writer, &records, filling, isBulk: true)
  }

  /// Retransmits the next lost message that was sent whole.
  private mutating func resendMessage(
    _ sendState: inout SendState, _ writer: inout FrameWriter, _ records: inout [FrameRecord],
    _ filling: Filling
  ) -> Bool {
    while let number = resend.first {
      guard let position = position(of: number), outstanding[position].isLost else {
        resend.popFirst()
        continue
      }
      let message = outstanding[position]
      if writeWhole(message, number, &sendState, &writer, &records) {
        resend.popFirst()
        outstanding[position].isLost = false
        outstanding[position].copies += 1
        sendState.statistics.resent += 1
        scheduleRedundancy(message, number, &sendState, filling)
        return true
      }
      guard message.length > 0, Int(message.length) > sendState.packetLimit || !filling.hasMessage
      else { return false }
      // The packet size has shrunk below the message, so send the message in fragments from now on.
      resend.popFirst()
      let index = sendState.fragments.allocate()
      sendState.fragments.recordLost(index, 0, message.length)
      outstanding[position].fragments = index
      outstanding[position].sentBytes = message.length
      resendBulk.append(number)
    }
    return true
  }

  /// Sends lost bytes of the next fragmented message again.
  private mutating func resendFragment(
    _ sendState: inout SendState, _ writer: inout FrameWriter, _ records: inout [FrameRecord]
  ) -> Bool {
    while let number = resendBulk.first {
      guard let position = position(of: number) else {
        resendBulk.popFirst()
        continue
      }
      let message = outstanding[position]
      guard let lost = sendState.fragments.firstLost(message.fragments) else {
        outstanding[position].isLost = false
        resendBulk.popFirst()
        continue
      }
      let count = writeFragment(
        message, number, from: lost.start, most: Int(lost.end - lost.start), &sendState, &writer,
        &records)
      guard count > 0 else { return false }
      sendState.fragments.recordResent(
        message.fragments, lost.start, lost.start + UInt32(count))
      sendState.statistics.resent += 1
      return true
    }
    return true
  }

  /// Sends the next fragment of the partly sent message.
  private mutating func sendNextFragment(
    _ sendState: inout SendState, _ writer: inout FrameWriter, _ records: inout [FrameRecord]
  ) -> Bool {
    guard let number = openNumber else { return true }
    var message = open ?? outstanding[Int(number - base)]
    let rest = Int(message.length - message.sentBytes)
    let most = min(rest, credit(&sendState))
    guard most >= min(ChannelLimits.fragmentLength, rest) else { return true }
    let count = writeFragment(
      message, number, from: message.sentBytes, most: most, &sendState, &writer, &records)
    guard count > 0 else { return false }
    message.sentBytes += UInt32(count)
    sendState.pendingBytes -= count
    spendCredit(count, &sendState)
    let isOpen = message.sentBytes < message.length
    if !isOpen { openNumber = nil }
    guard delivery.isReliable else {
      open = isOpen ? message : nil
      if !isOpen { releaseUnreliable(message, &sendState) }
      return true
    }
    outstanding[Int(number - base)].sentBytes = message.sentBytes
    return true
  }

  /// Frees an unreliable message whose last fragment was sent.
  private mutating func releaseUnreliable(_ message: SendMessage, _ sendState: inout SendState) {
    sendState.arena.release(message.buffer)
    sendState.unreliableBytes -= Int32(message.length)
    sendState.unreliableCount -= 1
  }

  /// Sends the next queued message: the whole message if it fits, otherwise its first fragment.
  private mutating func sendNext(
    _ sendState: inout SendState, _ writer: inout FrameWriter, _ records: inout [FrameRecord],
    _ filling: Filling, isBulk: Bool
  ) -> Bool {
    guard hasWindow() else { return true }
    dropExpiredFront(at: filling.now, &sendState)
    let isFrontSmall = isFrontSmall(sendState.bulkThreshold)
    let isInBulk = isBulk && isFrontSmall
    guard isBulk || isFrontSmall, let message = isInBulk ? firstBulk : unsent.first
    else { return true }
    let credit = credit(&sendState)
    if message.charge <= credit, writeWhole(message, next, &sendState, &writer, &records) {
      if isInBulk { unsentBulk.popFirst() } else { unsent.popFirst() }
      recordSentWhole(message, &sendState, filling)
      return true
    }
    guard message.length > 0, isBulk || message.charge <= credit else { return true }
    guard isBulk || !filling.hasMessage else { return false }
    guard openNumber == nil else { return true }
    return sendFirstFragment(message, isInBulk, &sendState, &writer, &records)
  }

  /// Updates the state after a queued message has been sent whole.
  private mutating func recordSentWhole(
    _ message: SendMessage, _ sendState: inout SendState, _ filling: Filling
  ) {
    sendState.recordDequeued(message, isReliable: delivery.isReliable)
    spendCredit(message.charge, &sendState)
    let number = next
    if delivery.isNumbered { next += 1 }
    guard delivery.isReliable else { return sendState.arena.release(message.buffer) }
    var sent = message
    sent.copies = 1
    outstanding.append(sent)
    scheduleRedundancy(message, number, &sendState, filling)
  }

  private mutating func sendFirstFragment(
    _ message: SendMessage, _ isInBulk: Bool, _ sendState: inout SendState,
    _ writer: inout FrameWriter, _ records: inout [FrameRecord]
  ) -> Bool {
    let length = Int(message.length)
    let most = min(length, credit(&sendState) - ChannelLimits.messageCharge)
    guard most >= min(ChannelLimits.fragmentLength, length) else { return true }
    let count = writeFragment(message, next, from: 0, most: most, &sendState, &writer, &records)
    guard count > 0 else { return false }
    if isInBulk { unsentBulk.popFirst() } else { unsent.popFirst() }
    var sent = message
    sent.sentBytes = UInt32(count)
    sendState.pendingBytes -= count
    spendCredit(count + ChannelLimits.messageCharge, &sendState)
    let isOpen = count < length
    openNumber = isOpen ? next : nil
    next += 1
    guard delivery.isReliable else {
      beginReceipt(message, &sendState)
      open = isOpen ? sent : nil
      if !isOpen { releaseUnreliable(message, &sendState) }
      return true
    }
    sent.fragments = sendState.fragments.allocate()
    outstanding.append(sent)
    return true
  }

  private mutating func beginReceipt(_ message: SendMessage, _ sendState: inout SendState) {
    guard message.wantsReceipt,
      let dropped = sendState.receipts.begin(
        message.ticket, channel: channel, length: Int(message.length))
    else { return }
    sendState.emit(.receipt(channel: dropped.channel, message: dropped.ticket, delivered: false))
  }
}
