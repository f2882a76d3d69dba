import CaromCore

extension ChannelSet {
  /// What one packet's filling goes by.
  struct Filling {
    let redundancy: Int
    let includeBulk: Bool
    let now: Instant
    /// Whether a message stands in the packet already.
    var hasMessage = false
  }

  /// What came of a lane's turn.
  enum Turn {
    case wrote(Int)
    case noRoom
    case nothing
  }

  /// Puts as many frames into a packet as it has room for: credits, messages by their priority,
  /// then up to `redundancy` times those that left before and may be lost. A record is appended
  /// for each frame whose fate has to be told.
  package mutating func fill(
    _ writer: inout FrameWriter, records: inout [FrameRecord], redundancy: Int = 0,
    includeBulk: Bool = true, includeLatest: Bool = true, at now: Instant
  ) {
    clock = now
    packetCount &+= 1
    adopt(packetLimit: writer.limit - ChannelLimits.wholeReserve)
    if creditsDue > 0 { writeCredits(&writer, &records) }
    var filling = Filling(redundancy: redundancy, includeBulk: includeBulk, now: now)
    if scheduler.hasAny {
      writeMessages(&writer, &records, &filling, includeLatest: includeLatest)
    }
    if riders.count > 0 { writeRiders(&writer, &records, redundancy) }
  }

  private mutating func writeMessages(
    _ writer: inout FrameWriter, _ records: inout [FrameRecord], _ filling: inout Filling,
    includeLatest: Bool
  ) {
    var misfits = 0
    while writer.room > 2, misfits < ChannelLimits.misfits,
      let lane = scheduler.next(includeBulk: filling.includeBulk, includeLatest: includeLatest)
    {
      let turn = serve(lane, &writer, &records, &filling)
      refresh(lane)
      switch turn {
      case .wrote(let count):
        filling.hasMessage = true
        scheduler.charge(lane, count)
      case .noRoom:
        misfits += 1
        scheduler.passOver(lane)
      case .nothing: scheduler.passOver(lane)
      }
    }
    scheduler.restore()
  }

  private mutating func adopt(packetLimit limit: Int) {
    guard limit != packetLimit else { return }
    packetLimit = max(0, limit)
    for lane in lanes.indices { refresh(lane) }
  }

  private mutating func writeCredits(
    _ writer: inout FrameWriter, _ records: inout [FrameRecord]
  ) {
    for index in channels.indices where channels[index].isCreditDue {
      let (channel, limit) = (channels[index].number, channels[index].credit.limit)
      guard writer.appendCredit(channel: channel, limit: limit) else { return }
      channels[index].isCreditDue = false
      creditsDue -= 1
      records.append(FrameRecord(.credit, channel: channel, number: limit))
    }
  }

  /// Writes one frame of a lane. What is lost comes first; small messages of modes without order
  /// come before all bulk.
  private mutating func serve(
    _ lane: Int, _ writer: inout FrameWriter, _ records: inout [FrameRecord],
    _ filling: inout Filling
  ) -> Turn {
    let before = writer.count
    var hasRoom = resend(lane, &writer, &records, filling)
    if hasRoom, writer.count == before, lanes[lane].isUnordered || lanes[lane].openNumber == nil {
      let isBulkDue = filling.includeBulk && !lanes[lane].isUnordered
      if isBulkDue { hasRoom = resendPiece(lane, &writer, &records) }
      if hasRoom, writer.count == before {
        hasRoom = begin(lane, &writer, &records, filling, isBulk: false)
      }
    }
    if hasRoom, writer.count == before, filling.includeBulk {
      hasRoom = resendPiece(lane, &writer, &records)
      if hasRoom, writer.count == before { hasRoom = continueOpen(lane, &writer, &records) }
      if hasRoom, writer.count == before {
        hasRoom = begin(lane, &writer, &records, filling, isBulk: true)
      }
    }
    if writer.count > before { return .wrote(writer.count - before) }
    return hasRoom ? .nothing : .noRoom
  }

  /// Sends a whole message again; `false` when it finds no room.
  private mutating func resend(
    _ lane: Int, _ writer: inout FrameWriter, _ records: inout [FrameRecord], _ filling: Filling
  ) -> Bool {
    while let number = lanes[lane].resend.first {
      guard let position = lanes[lane].position(of: number),
        lanes[lane].outstanding[position].isLost
      else {
        lanes[lane].resend.popFirst()
        continue
      }
      let message = lanes[lane].outstanding[position]
      if writeWhole(message, number, lane, &writer, &records) {
        lanes[lane].resend.popFirst()
        lanes[lane].outstanding[position].isLost = false
        lanes[lane].outstanding[position].copies += 1
        statistics.resent += 1
        noteRider(number, lane, filling)
        return true
      }
      guard Int(message.length) > packetLimit || !filling.hasMessage else { return false }
      guard message.length > 0 else { return false }
      // The packets have become smaller than the message: from here on it goes in pieces.
      lanes[lane].resend.popFirst()
      let index = pieces.allocate()
      pieces.lose(index, 0, message.length)
      lanes[lane].outstanding[position].pieces = index
      lanes[lane].outstanding[position].begun = message.length
      lanes[lane].resendBulk.append(number)
    }
    return true
  }

  /// Sends a lost piece again; `false` when it finds no room.
  private mutating func resendPiece(
    _ lane: Int, _ writer: inout FrameWriter, _ records: inout [FrameRecord]
  ) -> Bool {
    while let number = lanes[lane].resendBulk.first {
      guard let position = lanes[lane].position(of: number),
        let lost = pieces[lanes[lane].outstanding[position].pieces].lost.first
      else {
        lanes[lane].resendBulk.popFirst()
        if let position = lanes[lane].position(of: number) {
          lanes[lane].outstanding[position].isLost = false
        }
        continue
      }
      let message = lanes[lane].outstanding[position]
      let count = writePiece(
        message, number, lane, from: lost.start, most: Int(lost.end - lost.start), &writer,
        &records)
      guard count > 0 else { return false }
      pieces[message.pieces].lost.remove(lost.start, lost.start + UInt32(count))
      statistics.resent += 1
      return true
    }
    return true
  }

  /// Sends the next piece of the message that has left in part; `false` when it finds no room.
  private mutating func continueOpen(
    _ lane: Int, _ writer: inout FrameWriter, _ records: inout [FrameRecord]
  ) -> Bool {
    guard let number = lanes[lane].openNumber else { return true }
    var message = lanes[lane].open ?? lanes[lane].outstanding[Int(number - lanes[lane].base)]
    let rest = Int(message.length - message.begun)
    let most = min(rest, credit(of: lane))
    guard most >= min(ChannelLimits.pieceLength, rest) else { return true }
    let count = writePiece(
      message, number, lane, from: message.begun, most: most, &writer, &records)
    guard count > 0 else { return false }
    message.begun += UInt32(count)
    pendingBytes -= count
    pay(count, lane)
    if message.begun == message.length { lanes[lane].openNumber = nil }
    guard lanes[lane].mode.isReliable else {
      lanes[lane].open = message.begun == message.length ? nil : message
      if message.begun == message.length { endUnreliable(message) }
      return true
    }
    lanes[lane].outstanding[Int(number - lanes[lane].base)].begun = message.begun
    return true
  }

  private mutating func endUnreliable(_ message: SendMessage) {
    arena.release(message.buffer)
    unreliableBytes -= Int(message.length)
    unreliableCount -= 1
  }

  /// Counts bytes against the channel's credit.
  private mutating func pay(_ count: Int, _ lane: Int) {
    guard lanes[lane].mode.needsCredit else { return }
    channels[Int(channelTable[Int(lanes[lane].channel)])].sent += UInt64(count)
  }

  /// Sends the next message of which nothing has left, whole or its first piece; `false` when it
  /// finds no room.
  private mutating func begin(
    _ lane: Int, _ writer: inout FrameWriter, _ records: inout [FrameRecord], _ filling: Filling,
    isBulk: Bool
  ) -> Bool {
    guard isBulk ? lanes[lane].openNumber == nil : true, lanes[lane].hasWindow else { return true }
    dropLate(lane, at: filling.now)
    let isInBulk = isBulk && (lanes[lane].unsent.first.map { $0.length <= bulkFrom } ?? true)
    guard let message = isInBulk ? lanes[lane].unsentBulk.first : lanes[lane].unsent.first,
      isBulk == (Int(message.length) > bulkFrom) || isInBulk
    else { return true }
    let credit = credit(of: lane)
    let number = lanes[lane].next
    if message.charge <= credit, writeWhole(message, number, lane, &writer, &records) {
      popUnsent(lane, isInBulk)
      noteBegun(message, lane)
      pay(message.charge, lane)
      if lanes[lane].mode.isNumbered { lanes[lane].next += 1 }
      settle(message, number, lane, filling)
      return true
    }
    guard message.length > 0, isBulk || message.charge <= credit else { return true }
    guard isBulk || !filling.hasMessage else { return false }
    guard lanes[lane].openNumber == nil else { return true }
    return beginPieces(message, lane, isInBulk, &writer, &records)
  }

  /// What becomes of a message that has left whole.
  private mutating func settle(
    _ message: SendMessage, _ number: UInt64, _ lane: Int, _ filling: Filling
  ) {
    guard lanes[lane].mode.isReliable else { return arena.release(message.buffer) }
    var sent = message
    sent.copies = 1
    lanes[lane].outstanding.append(sent)
    noteRider(number, lane, filling)
  }

  private mutating func noteRider(_ number: UInt64, _ lane: Int, _ filling: Filling) {
    guard filling.redundancy > 0, let position = lanes[lane].position(of: number),
      lanes[lane].outstanding[position].length <= ChannelLimits.riderLength
    else { return }
    riders.add(number, lane: lane, packet: packetCount)
  }

  private mutating func popUnsent(_ lane: Int, _ isInBulk: Bool) {
    if isInBulk { lanes[lane].unsentBulk.popFirst() } else { lanes[lane].unsent.popFirst() }
  }

  private mutating func dropLate(_ lane: Int, at now: Instant) {
    while let message = lanes[lane].unsent.first,
      message.isDone || message.deadline <= now.nanoseconds
    {
      lanes[lane].unsent.popFirst()
      if !message.isDone { expire(message, lane) }
    }
    while let message = lanes[lane].unsentBulk.first,
      message.isDone || message.deadline <= now.nanoseconds
    {
      lanes[lane].unsentBulk.popFirst()
      if !message.isDone { expire(message, lane) }
    }
  }

  /// Sends the first piece of a message; `false` when it finds no room.
  private mutating func beginPieces(
    _ message: SendMessage, _ lane: Int, _ isInBulk: Bool, _ writer: inout FrameWriter,
    _ records: inout [FrameRecord]
  ) -> Bool {
    let number = lanes[lane].next
    let length = Int(message.length)
    let most = min(length, credit(of: lane) - ChannelLimits.messageCharge)
    guard most >= min(ChannelLimits.pieceLength, length) else { return true }
    let count = writePiece(message, number, lane, from: 0, most: most, &writer, &records)
    guard count > 0 else { return false }
    popUnsent(lane, isInBulk)
    lanes[lane].next += 1
    var sent = message
    sent.begun = UInt32(count)
    pendingBytes -= count
    pay(count + ChannelLimits.messageCharge, lane)
    let isOpen = count < length
    lanes[lane].openNumber = isOpen ? number : nil
    guard lanes[lane].mode.isReliable else {
      beginReceipt(message, lane, count)
      lanes[lane].open = isOpen ? sent : nil
      if !isOpen { endUnreliable(message) }
      return true
    }
    sent.pieces = pieces.allocate()
    lanes[lane].outstanding.append(sent)
    return true
  }

  private mutating func beginReceipt(_ message: SendMessage, _ lane: Int, _ count: Int) {
    guard message.wantsReceipt,
      let dropped = receipts.begin(message.ticket, length: Int(message.length))
    else { return }
    tell(.receipt(channel: lanes[lane].channel, message: dropped, delivered: false))
  }
}

// MARK: Frames

extension ChannelSet {
  private func record(
    _ message: SendMessage, _ number: UInt64, _ lane: Int, offset: UInt32, length: UInt32
  ) -> FrameRecord? {
    let (mode, channel) = (lanes[lane].mode, lanes[lane].channel)
    if mode.isReliable {
      return FrameRecord(
        length == 0 ? .reliable : .fragment, mode: mode, channel: channel, number: number,
        offset: offset, length: length)
    }
    guard message.wantsReceipt else { return nil }
    return FrameRecord(
      .receipt, mode: mode, channel: channel, number: message.ticket, offset: offset,
      length: length)
  }

  private mutating func writeWhole(
    _ message: SendMessage, _ number: UInt64, _ lane: Int, _ writer: inout FrameWriter,
    _ records: inout [FrameRecord]
  ) -> Bool {
    let buffer = arena.buffers[Int(message.buffer)]
    guard
      writer.appendMessage(
        lanes[lane].mode, channel: lanes[lane].channel, number: number,
        buffer.span.extracting(0..<Int(message.length)))
    else { return false }
    if let record = record(message, number, lane, offset: 0, length: 0) { records.append(record) }
    return true
  }

  /// Writes a piece of at most `most` bytes; how many those were, 0 if it found no room.
  private mutating func writePiece(
    _ message: SendMessage, _ number: UInt64, _ lane: Int, from start: UInt32, most: Int,
    _ writer: inout FrameWriter, _ records: inout [FrameRecord]
  ) -> Int {
    let (mode, channel) = (lanes[lane].mode, lanes[lane].channel)
    let (total, offset) = (Int(message.length), Int(start))
    let room = writer.fragmentRoom(channel: channel, total: total, offset: offset)
    let count = min(room, most)
    let buffer = arena.buffers[Int(message.buffer)]
    guard count >= min(ChannelLimits.pieceLength, most),
      writer.appendFragment(
        mode, channel: channel, number: number, total: total, offset: offset,
        buffer.span.extracting(offset..<offset + count))
    else { return 0 }
    if let record = record(message, number, lane, offset: start, length: UInt32(count)) {
      records.append(record)
    }
    return count
  }

  /// Small reliable messages of the packets before ride along.
  private mutating func writeRiders(
    _ writer: inout FrameWriter, _ records: inout [FrameRecord], _ redundancy: Int
  ) {
    for _ in 0..<riders.count {
      guard var rider = riders.popFirst() else { return }
      let lane = Int(rider.lane)
      guard let position = lanes[lane].position(of: rider.number), rider.rides < redundancy,
        !lanes[lane].outstanding[position].isLost
      else { continue }
      if rider.packet != packetCount {
        let message = lanes[lane].outstanding[position]
        if writeWhole(message, rider.number, lane, &writer, &records) {
          lanes[lane].outstanding[position].copies += 1
          statistics.ridden += 1
          rider.rides += 1
        }
      }
      if rider.rides < redundancy { riders.append(rider) }
    }
  }
}
