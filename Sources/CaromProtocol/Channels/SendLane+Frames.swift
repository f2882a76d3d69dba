extension SendLane {
  /// Writes a whole message; `false` when it finds no room.
  mutating func writeWhole(
    _ message: SendMessage, _ number: UInt64, _ outgoing: inout SendState,
    _ writer: inout FrameWriter, _ records: inout [FrameRecord]
  ) -> Bool {
    let buffer = outgoing.arena.buffers[Int(message.buffer)].bytes
    guard
      writer.appendMessage(
        delivery, channel: channel, number: number,
        buffer.span.extracting(0..<Int(message.length)))
    else { return false }
    note(message, number, offset: 0, length: 0, &records)
    return true
  }

  /// Writes a piece of at most `most` bytes; how many those were, 0 if it found no room.
  mutating func writePiece(
    _ message: SendMessage, _ number: UInt64, from start: UInt32, most: Int,
    _ outgoing: inout SendState, _ writer: inout FrameWriter, _ records: inout [FrameRecord]
  ) -> Int {
    let (total, offset) = (Int(message.length), Int(start))
    let room = writer.fragmentRoom(channel: channel, total: total, offset: offset)
    let count = min(room, most)
    let buffer = outgoing.arena.buffers[Int(message.buffer)].bytes
    guard count >= min(ChannelLimits.pieceLength, most),
      writer.appendFragment(
        delivery, channel: channel, number: number, total: total, offset: offset,
        buffer.span.extracting(offset..<offset + count))
    else { return 0 }
    note(message, number, offset: start, length: UInt32(count), &records)
    return count
  }

  /// Appends the record of a frame whose fate somebody wants to hear of; `length` is 0 where the
  /// message is whole.
  private mutating func note(
    _ message: SendMessage, _ number: UInt64, offset: UInt32, length: UInt32,
    _ records: inout [FrameRecord]
  ) {
    if delivery.isReliable {
      records.append(
        FrameRecord(
          length == 0 ? .reliable : .fragment, delivery: delivery, channel: channel, number: number,
          offset: offset, length: length))
    } else if message.wantsReceipt {
      records.append(
        FrameRecord(
          .receipt, delivery: delivery, channel: channel, number: message.ticket, offset: offset,
          length: length))
    }
  }

  /// Lets a message that left before ride along; it is over when the message is done, waits to be
  /// sent again in any case, or goes in pieces.
  mutating func ride(
    _ number: UInt64, _ outgoing: inout SendState, _ writer: inout FrameWriter,
    _ records: inout [FrameRecord]
  ) -> Ride {
    guard let position = position(of: number), !outstanding[position].isLost,
      outstanding[position].pieces < 0
    else { return .over }
    guard writeWhole(outstanding[position], number, &outgoing, &writer, &records) else {
      return .noRoom
    }
    outstanding[position].copies += 1
    return .rode
  }

  /// Sends messages again that nothing is known of, as many as find room.
  mutating func sendUnacknowledged(
    _ outgoing: inout SendState, _ writer: inout FrameWriter, _ records: inout [FrameRecord]
  ) {
    for position in 0..<min(outstanding.count, ChannelLimits.riders)
    where !outstanding[position].isDone {
      if ride(base + UInt64(position), &outgoing, &writer, &records) == .noRoom { return }
    }
  }

  enum Ride: Sendable {
    case rode
    case noRoom
    case over
  }
}
