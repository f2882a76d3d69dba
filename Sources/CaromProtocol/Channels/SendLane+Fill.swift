import CaromCore

extension SendLane {
  /// Writes one frame. What is lost comes first; small messages of modes without order come before
  /// all bulk.
  mutating func serve(
    _ outgoing: inout SendState, _ writer: inout FrameWriter, _ records: inout [FrameRecord],
    _ filling: Filling
  ) -> Filling.Turn {
    let before = writer.count
    var hasRoom = true
    if !resend.isEmpty { hasRoom = sendAgain(&outgoing, &writer, &records, filling) }
    if hasRoom, writer.count == before, filling.includeBulk, !isUnordered, !resendBulk.isEmpty {
      hasRoom = sendPieceAgain(&outgoing, &writer, &records)
    }
    if hasRoom, writer.count == before, isUnordered || openNumber == nil {
      hasRoom = begin(&outgoing, &writer, &records, filling, isBulk: false)
    }
    if hasRoom, writer.count == before, filling.includeBulk {
      hasRoom = serveBulk(&outgoing, &writer, &records, filling)
    }
    if writer.count > before { return .wrote(writer.count - before) }
    return hasRoom ? .nothing : .noRoom
  }

  private mutating func serveBulk(
    _ outgoing: inout SendState, _ writer: inout FrameWriter, _ records: inout [FrameRecord],
    _ filling: Filling
  ) -> Bool {
    let before = writer.count
    if !resendBulk.isEmpty {
      let hasRoom = sendPieceAgain(&outgoing, &writer, &records)
      guard hasRoom, writer.count == before else { return hasRoom }
    }
    if openNumber != nil { return continueOpen(&outgoing, &writer, &records) }
    return begin(&outgoing, &writer, &records, filling, isBulk: true)
  }

  /// Sends a whole message again; `false` when it finds no room.
  private mutating func sendAgain(
    _ outgoing: inout SendState, _ writer: inout FrameWriter, _ records: inout [FrameRecord],
    _ filling: Filling
  ) -> Bool {
    while let number = resend.first {
      guard let position = position(of: number), outstanding[position].isLost else {
        resend.popFirst()
        continue
      }
      let message = outstanding[position]
      if writeWhole(message, number, &outgoing, &writer, &records) {
        resend.popFirst()
        outstanding[position].isLost = false
        outstanding[position].copies += 1
        outgoing.statistics.resent += 1
        noteRider(message, number, &outgoing, filling)
        return true
      }
      guard message.length > 0, Int(message.length) > outgoing.packetLimit || !filling.hasMessage
      else { return false }
      // The packets have become smaller than the message: from here on it goes in pieces.
      resend.popFirst()
      let index = outgoing.pieces.allocate()
      outgoing.pieces.lose(index, 0, message.length)
      outstanding[position].pieces = index
      outstanding[position].begun = message.length
      resendBulk.append(number)
    }
    return true
  }

  /// Sends a lost piece again; `false` when it finds no room.
  private mutating func sendPieceAgain(
    _ outgoing: inout SendState, _ writer: inout FrameWriter, _ records: inout [FrameRecord]
  ) -> Bool {
    while let number = resendBulk.first {
      guard let position = position(of: number) else {
        resendBulk.popFirst()
        continue
      }
      let message = outstanding[position]
      guard let lost = outgoing.pieces.firstLost(message.pieces) else {
        outstanding[position].isLost = false
        resendBulk.popFirst()
        continue
      }
      let count = writePiece(
        message, number, from: lost.start, most: Int(lost.end - lost.start), &outgoing, &writer,
        &records)
      guard count > 0 else { return false }
      outgoing.pieces.sendAgain(message.pieces, lost.start, lost.start + UInt32(count))
      outgoing.statistics.resent += 1
      return true
    }
    return true
  }

  /// Sends the next piece of the message that has left in part; `false` when it finds no room.
  private mutating func continueOpen(
    _ outgoing: inout SendState, _ writer: inout FrameWriter, _ records: inout [FrameRecord]
  ) -> Bool {
    guard let number = openNumber else { return true }
    var message = open ?? outstanding[Int(number - base)]
    let rest = Int(message.length - message.begun)
    let most = min(rest, credit(&outgoing))
    guard most >= min(ChannelLimits.pieceLength, rest) else { return true }
    let count = writePiece(
      message, number, from: message.begun, most: most, &outgoing, &writer, &records)
    guard count > 0 else { return false }
    message.begun += UInt32(count)
    outgoing.pendingBytes -= count
    pay(count, &outgoing)
    let isOpen = message.begun < message.length
    if !isOpen { openNumber = nil }
    guard delivery.isReliable else {
      open = isOpen ? message : nil
      if !isOpen { endUnreliable(message, &outgoing) }
      return true
    }
    outstanding[Int(number - base)].begun = message.begun
    return true
  }

  private mutating func endUnreliable(_ message: SendMessage, _ outgoing: inout SendState) {
    outgoing.arena.release(message.buffer)
    outgoing.unreliableBytes -= Int(message.length)
    outgoing.unreliableCount -= 1
  }

  /// Sends the next message of which nothing has left, whole or its first piece; `false` when it
  /// finds no room.
  private mutating func begin(
    _ outgoing: inout SendState, _ writer: inout FrameWriter, _ records: inout [FrameRecord],
    _ filling: Filling, isBulk: Bool
  ) -> Bool {
    guard hasWindow() else { return true }
    dropLate(at: filling.now, &outgoing)
    let bulkFrom = outgoing.bulkFrom
    let isFrontSmall = isFrontSmall(bulkFrom)
    let isInBulk = isBulk && isFrontSmall
    guard isBulk || isFrontSmall, let message = isInBulk ? unsentBulk.first : unsent.first
    else { return true }
    let credit = credit(&outgoing)
    if message.charge <= credit, writeWhole(message, next, &outgoing, &writer, &records) {
      if isInBulk { unsentBulk.popFirst() } else { unsent.popFirst() }
      settle(message, &outgoing, filling)
      return true
    }
    guard message.length > 0, isBulk || message.charge <= credit else { return true }
    guard isBulk || !filling.hasMessage else { return false }
    guard openNumber == nil else { return true }
    return beginPieces(message, isInBulk, &outgoing, &writer, &records)
  }

  /// What becomes of a message that has left whole.
  private mutating func settle(
    _ message: SendMessage, _ outgoing: inout SendState, _ filling: Filling
  ) {
    outgoing.noteBegun(message, isReliable: delivery.isReliable)
    pay(message.charge, &outgoing)
    let number = next
    if delivery.isNumbered { next += 1 }
    guard delivery.isReliable else { return outgoing.arena.release(message.buffer) }
    var sent = message
    sent.copies = 1
    outstanding.append(sent)
    noteRider(message, number, &outgoing, filling)
  }

  private mutating func noteRider(
    _ message: SendMessage, _ number: UInt64, _ outgoing: inout SendState, _ filling: Filling
  ) {
    guard message.length <= ChannelLimits.riderLength else { return }
    outgoing.riders.leftover = filling.leftover
    guard filling.rides > 0 else { return }
    outgoing.riders.add(
      number, channel: channel, delivery: delivery, rides: filling.rides,
      packet: outgoing.packetCount)
  }

  /// Sends the first piece of a message; `false` when it finds no room.
  private mutating func beginPieces(
    _ message: SendMessage, _ isInBulk: Bool, _ outgoing: inout SendState,
    _ writer: inout FrameWriter, _ records: inout [FrameRecord]
  ) -> Bool {
    let length = Int(message.length)
    let most = min(length, credit(&outgoing) - ChannelLimits.messageCharge)
    guard most >= min(ChannelLimits.pieceLength, length) else { return true }
    let count = writePiece(message, next, from: 0, most: most, &outgoing, &writer, &records)
    guard count > 0 else { return false }
    if isInBulk { unsentBulk.popFirst() } else { unsent.popFirst() }
    var sent = message
    sent.begun = UInt32(count)
    outgoing.pendingBytes -= count
    pay(count + ChannelLimits.messageCharge, &outgoing)
    let isOpen = count < length
    openNumber = isOpen ? next : nil
    next += 1
    guard delivery.isReliable else {
      beginReceipt(message, &outgoing)
      open = isOpen ? sent : nil
      if !isOpen { endUnreliable(message, &outgoing) }
      return true
    }
    sent.pieces = outgoing.pieces.allocate()
    outstanding.append(sent)
    return true
  }

  private mutating func beginReceipt(_ message: SendMessage, _ outgoing: inout SendState) {
    guard message.wantsReceipt,
      let dropped = outgoing.receipts.begin(
        message.ticket, channel: channel, length: Int(message.length))
    else { return }
    outgoing.tell(.receipt(channel: dropped.channel, message: dropped.ticket, delivered: false))
  }
}
