extension SendLane {
  /// A packet with the message, or with a piece of it, has arrived.
  mutating func acknowledge(_ record: FrameRecord, _ outgoing: inout SendState) {
    guard let position = position(of: record.number) else { return }
    if record.kind == .reliable { return complete(position, &outgoing) }
    let message = outstanding[position]
    guard message.pieces >= 0 else { return }
    outgoing.pieces.acknowledge(
      message.pieces, record.offset, record.offset + record.length)
    guard outgoing.pieces[message.pieces].bytes == Int(message.length) else { return }
    complete(position, &outgoing)
  }

  /// A packet with the message, or with a piece of it, is lost.
  mutating func lose(_ record: FrameRecord, _ outgoing: inout SendState) {
    guard let position = position(of: record.number) else { return }
    if record.kind == .reliable {
      loseWhole(record.number, position)
    } else {
      losePiece(record, position, &outgoing)
    }
  }

  private mutating func loseWhole(_ number: UInt64, _ position: Int) {
    if outstanding[position].copies > 0 { outstanding[position].copies -= 1 }
    let message = outstanding[position]
    guard message.copies == 0, !message.isLost, message.pieces < 0 else { return }
    outstanding[position].isLost = true
    resend.append(number)
  }

  private mutating func losePiece(
    _ record: FrameRecord, _ position: Int, _ outgoing: inout SendState
  ) {
    let message = outstanding[position]
    guard message.pieces >= 0 else { return }
    outgoing.pieces.lose(message.pieces, record.offset, record.offset + record.length)
    guard !message.isLost, !outgoing.pieces[message.pieces].lost.isEmpty else { return }
    outstanding[position].isLost = true
    resendBulk.append(record.number)
  }

  /// The peer has a message; of a sequenced mode it needs none before it.
  private mutating func complete(_ position: Int, _ outgoing: inout SendState) {
    if delivery.isSequenced {
      for older in 0..<position where !outstanding[older].isDone {
        end(older, delivered: false, &outgoing)
      }
    }
    end(position, delivered: true, &outgoing)
    // What had left in part only may be among those.
    if delivery.isReliable, let number = openNumber, self.position(of: number) == nil {
      openNumber = nil
    }
    dropDone()
  }

  /// Ends a message that has a number.
  mutating func end(_ position: Int, delivered: Bool, _ outgoing: inout SendState) {
    let message = outstanding[position]
    outgoing.arena.release(message.buffer)
    if message.pieces >= 0 {
      outgoing.pieces.release(message.pieces)
      outgoing.pendingBytes -= Int(message.length - message.begun)
    }
    outstanding[position].buffer = MessageArena.none
    outgoing.release(message.charge)
    guard message.wantsReceipt else { return }
    outgoing.tell(.receipt(channel: channel, message: message.ticket, delivered: delivered))
  }
}
