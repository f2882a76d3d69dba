import CaromCore

extension ChannelSet {
  /// A packet with this record has arrived.
  package mutating func handleAcknowledged(_ record: FrameRecord, at now: Instant) {
    switch record.kind {
    case .reliable, .fragment:
      guard let lane = sendLane(of: record.channel, record.delivery) else { return }
      lanes[lane].acknowledge(record, &outgoing)
      refresh(lane)
    case .receipt:
      guard record.length == 0 || outgoing.receipts.acknowledge(record.number, Int(record.length))
      else { return }
      outgoing.tell(.receipt(channel: record.channel, message: record.number, delivered: true))
    case .credit, .acknowledgement: return
    }
  }

  /// A packet with this record is lost, or so it seems.
  package mutating func handleLost(_ record: FrameRecord, at now: Instant) {
    switch record.kind {
    case .reliable, .fragment:
      guard let lane = sendLane(of: record.channel, record.delivery) else { return }
      lanes[lane].lose(record, &outgoing)
      refresh(lane)
    case .receipt:
      guard record.length == 0 || outgoing.receipts.lose(record.number) else { return }
      outgoing.tell(.receipt(channel: record.channel, message: record.number, delivered: false))
    case .credit: owe(channel(record.channel))
    case .acknowledgement: return
    }
  }

  /// The peer lets this side send so many bytes on a channel, in all.
  package mutating func handleCredit(channel number: UInt8, limit: UInt64) {
    let index = channel(number)
    guard limit > outgoing.credits[index].limit else { return }
    outgoing.credits[index].limit = limit
    for delivery in Delivery.allCases where delivery.needsCredit {
      if let lane = sendLane(of: number, delivery) { refresh(lane) }
    }
  }

  /// Drops the unreliable messages that have not left.
  package mutating func dropUnreliable() {
    for lane in lanes.indices where !lanes[lane].delivery.isReliable {
      lanes[lane].dropWaiting(&outgoing)
      refresh(lane)
    }
  }

  /// Drops everything of this side's; what the peer sends is still heard.
  package mutating func dropOutgoing() {
    for lane in lanes.indices {
      lanes[lane].dropAll(&outgoing)
      refresh(lane)
    }
    outgoing.riders.removeAll()
  }
}
