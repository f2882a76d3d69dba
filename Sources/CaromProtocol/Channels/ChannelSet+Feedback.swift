import CaromCore

extension ChannelSet {
  /// Handles the acknowledgement of a packet that carried the frame described by `record`.
  package mutating func handleAcknowledged(_ record: FrameRecord, at now: Instant) {
    switch record.kind {
    case .reliable, .fragment:
      guard let lane = sendLane(of: record.channel, record.delivery) else { return }
      lanes[lane].acknowledge(record, &sendState)
      refresh(lane)
    case .receipt:
      guard record.length == 0 || sendState.receipts.acknowledge(record.number, Int(record.length))
      else { return }
      sendState.emit(.receipt(channel: record.channel, message: record.number, delivered: true))
    case .credit: return
    }
  }

  /// Handles the loss of a packet that carried the frame described by `record`. The loss may turn
  /// out to be spurious.
  package mutating func handleLost(_ record: FrameRecord, at now: Instant) {
    switch record.kind {
    case .reliable, .fragment:
      guard let lane = sendLane(of: record.channel, record.delivery) else { return }
      lanes[lane].handleLost(record, &sendState)
      refresh(lane)
    case .receipt:
      guard record.length == 0 || sendState.receipts.remove(record.number) else { return }
      sendState.emit(.receipt(channel: record.channel, message: record.number, delivered: false))
    case .credit: scheduleCredit(index(ofChannel: record.channel))
    }
  }

  /// Handles a credit frame: the peer allows this side to send `limit` bytes on the channel in
  /// total, counted from the beginning of the connection.
  package mutating func handleCredit(channel number: UInt8, limit: UInt64) {
    let index = index(ofChannel: number)
    guard limit > sendState.credits[index].limit else { return }
    sendState.credits[index].limit = limit
    for delivery in Delivery.allCases where delivery.needsCredit {
      if let lane = sendLane(of: number, delivery) { refresh(lane) }
    }
  }

  /// Drops all unreliable messages that have not been sent completely.
  package mutating func dropUnreliable() {
    for lane in lanes.indices where !lanes[lane].delivery.isReliable {
      lanes[lane].dropUnsent(&sendState)
      refresh(lane)
    }
  }

  /// Drops all messages to the peer, both queued and unacknowledged. Messages from the peer are
  /// still received.
  package mutating func dropOutgoing() {
    for lane in lanes.indices {
      lanes[lane].dropAll(&sendState)
      refresh(lane)
    }
    sendState.redundantSends.removeAll()
  }
}
