extension SendLane {
  /// Writes a whole message. Returns `false` if the message does not fit.
  mutating func writeWhole(
    _ message: SendMessage, _ number: UInt64, _ sendState: inout SendState,
    _ writer: inout FrameWriter, _ records: inout [FrameRecord]
  ) -> Bool {
    let (delivery, channel) = (delivery, channel)
    let isWritten = sendState.arena.withBytes(of: message.buffer, count: Int(message.length)) {
      bytes in writer.appendMessage(delivery, channel: channel, number: number, bytes)
    }
    guard isWritten else { return false }
    appendRecord(of: message, number, offset: 0, length: 0, &records)
    return true
  }

  /// Writes a fragment of at most `most` bytes. Returns the fragment's length in bytes, or 0 if
  /// only a fragment below the minimum length would fit.
  mutating func writeFragment(
    _ message: SendMessage, _ number: UInt64, from start: UInt32, most: Int,
    _ sendState: inout SendState, _ writer: inout FrameWriter, _ records: inout [FrameRecord]
  ) -> Int {
    let (total, offset) = (Int(message.length), Int(start))
    let room = writer.fragmentRoom(channel: channel, total: total, offset: offset)
    let count = min(room, most)
    let buffer = sendState.arena[message.buffer]
    guard count >= min(ChannelLimits.fragmentLength, most),
      writer.appendFragment(
        delivery, channel: channel, number: number, total: total, offset: offset,
        buffer.span.extracting(offset..<offset + count))
    else { return 0 }
    appendRecord(of: message, number, offset: start, length: UInt32(count), &records)
    return count
  }

  /// Appends the record of a frame if the frame's acknowledgement or loss matters, because the
  /// message is reliable or was sent with `wantsReceipt`. `length` is 0 for a whole message.
  private mutating func appendRecord(
    of message: SendMessage, _ number: UInt64, offset: UInt32, length: UInt32,
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
}
