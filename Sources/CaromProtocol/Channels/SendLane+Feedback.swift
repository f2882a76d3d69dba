import CaromCore

extension SendLane {
  /// Handles the acknowledgement of a packet that carried the message or fragment of `record`.
  mutating func acknowledge(_ record: FrameRecord, _ sendState: inout SendState) {
    guard let position = position(of: record.number) else { return }
    if delivery.needsCredit { sendState.acknowledgedFrames &+= 1 }
    if record.kind == .reliable { return complete(position, &sendState) }
    let message = outstanding[position]
    guard message.fragments >= 0 else { return }
    sendState.fragments.recordAcknowledged(
      message.fragments, record.offset, record.offset + record.length)
    guard sendState.fragments[message.fragments].acknowledgedBytes == Int(message.length)
    else { return }
    complete(position, &sendState)
  }

  /// Handles the loss of a packet that carried the message or fragment of `record`.
  mutating func handleLost(_ record: FrameRecord, _ sendState: inout SendState) {
    guard let position = position(of: record.number) else { return }
    if record.kind == .reliable {
      handleLostCopy(record.number, position)
    } else {
      handleLostFragment(record, position, &sendState)
    }
  }

  /// Schedules the retransmission of a message that was sent whole, unless another copy of it is in
  /// flight.
  private mutating func handleLostCopy(_ number: UInt64, _ position: Int) {
    if outstanding[position].copies > 0 { outstanding[position].copies -= 1 }
    let message = outstanding[position]
    guard message.copies == 0, !message.isLost, message.fragments < 0 else { return }
    outstanding[position].isLost = true
    resend.append(number)
  }

  private mutating func handleLostFragment(
    _ record: FrameRecord, _ position: Int, _ sendState: inout SendState
  ) {
    let message = outstanding[position]
    guard message.fragments >= 0 else { return }
    sendState.fragments.recordLost(
      message.fragments, record.offset, record.offset + record.length)
    guard !message.isLost, !sendState.fragments[message.fragments].lost.isEmpty else { return }
    outstanding[position].isLost = true
    resendBulk.append(record.number)
  }

  /// Completes a message that the peer has acknowledged. In a sequenced lane, also ends all older
  /// messages and reports them as not delivered, because the peer would ignore them.
  private mutating func complete(_ position: Int, _ sendState: inout SendState) {
    if delivery.isSequenced {
      for older in 0..<position where !outstanding[older].isDone {
        end(older, delivered: false, &sendState)
      }
    }
    end(position, delivered: true, &sendState)
    removeDone()
  }

  /// Ends an outstanding message: frees its memory and, if the message was sent with
  /// `wantsReceipt`, emits its receipt.
  mutating func end(_ position: Int, delivered: Bool, _ sendState: inout SendState) {
    let message = outstanding[position]
    sendState.arena.release(message.buffer)
    if message.fragments >= 0 {
      sendState.fragments.release(message.fragments)
      sendState.pendingBytes -= Int(message.length - message.sentBytes)
    }
    outstanding[position].buffer = MessageArena.none
    sendState.release(message.charge)
    guard message.wantsReceipt else { return }
    sendState.emit(.receipt(channel: channel, message: message.ticket, delivered: delivered))
  }
}
