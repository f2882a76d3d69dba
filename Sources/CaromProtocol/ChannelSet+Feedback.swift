import CaromCore

extension ChannelSet {
  /// A packet with this record has arrived.
  package mutating func handleAcknowledged(_ record: FrameRecord, at now: Instant) {
    clock = now
    switch record.kind {
    case .reliable:
      guard let (lane, position) = find(record) else { return }
      complete(lane, position)
    case .fragment:
      guard let (lane, position) = find(record) else { return }
      acknowledgePiece(record, lane, position)
    case .receipt:
      guard record.length == 0 || receipts.acknowledge(record.number, Int(record.length)) else {
        return
      }
      tell(.receipt(channel: record.channel, message: record.number, delivered: true))
    case .credit, .acknowledgement: return
    }
  }

  /// A packet with this record is lost, or so it seems.
  package mutating func handleLost(_ record: FrameRecord, at now: Instant) {
    clock = now
    switch record.kind {
    case .reliable:
      guard let (lane, position) = find(record) else { return }
      loseWhole(record.number, lane, position)
    case .fragment:
      guard let (lane, position) = find(record) else { return }
      losePiece(record, lane, position)
    case .receipt:
      guard record.length == 0 || receipts.lose(record.number) else { return }
      tell(.receipt(channel: record.channel, message: record.number, delivered: false))
    case .credit: owe(channel(record.channel))
    case .acknowledgement: return
    }
  }

  /// The peer lets this side send so many bytes on a channel, in all.
  package mutating func handleCredit(channel number: UInt8, limit: UInt64) {
    let index = channel(number)
    guard limit > channels[index].sendLimit else { return }
    channels[index].sendLimit = limit
    for mode in MessageMode.allCases where mode.needsCredit {
      let lane = laneTable[Int(number) * Self.modes + Int(mode.rawValue)]
      if lane != Self.absent { refresh(Int(lane)) }
    }
  }

  /// The message that a record is about, unless it is done.
  private func find(_ record: FrameRecord) -> (lane: Int, position: Int)? {
    let lane = laneTable[Int(record.channel) * Self.modes + Int(record.mode.rawValue)]
    guard lane != Self.absent, let position = lanes[Int(lane)].position(of: record.number) else {
      return nil
    }
    return (Int(lane), position)
  }

  private mutating func acknowledgePiece(_ record: FrameRecord, _ lane: Int, _ position: Int) {
    let message = lanes[lane].outstanding[position]
    guard message.pieces >= 0 else { return }
    pieces.acknowledge(message.pieces, record.offset, record.offset + record.length)
    guard pieces[message.pieces].bytes == Int(message.length) else { return }
    complete(lane, position)
  }

  private mutating func loseWhole(_ number: UInt64, _ lane: Int, _ position: Int) {
    if lanes[lane].outstanding[position].copies > 0 {
      lanes[lane].outstanding[position].copies -= 1
    }
    let message = lanes[lane].outstanding[position]
    guard message.copies == 0, !message.isLost, message.pieces < 0 else { return }
    lanes[lane].outstanding[position].isLost = true
    lanes[lane].resend.append(number)
    refresh(lane)
  }

  private mutating func losePiece(_ record: FrameRecord, _ lane: Int, _ position: Int) {
    let message = lanes[lane].outstanding[position]
    guard message.pieces >= 0 else { return }
    pieces.lose(message.pieces, record.offset, record.offset + record.length)
    guard !message.isLost, !pieces[message.pieces].lost.isEmpty else { return }
    lanes[lane].outstanding[position].isLost = true
    lanes[lane].resendBulk.append(record.number)
    refresh(lane)
  }

  /// The peer has a message; of a sequenced mode it needs none before it.
  private mutating func complete(_ lane: Int, _ position: Int) {
    if lanes[lane].mode.isSequenced {
      for older in 0..<position where !lanes[lane].outstanding[older].isDone {
        end(lane, older, delivered: false)
      }
      if let open = lanes[lane].openNumber, lanes[lane].position(of: open) == nil {
        lanes[lane].openNumber = nil
      }
    }
    end(lane, position, delivered: true)
    lanes[lane].dropDone()
    refresh(lane)
  }

  private mutating func end(_ lane: Int, _ position: Int, delivered: Bool) {
    let message = lanes[lane].outstanding[position]
    arena.release(message.buffer)
    if message.pieces >= 0 {
      pieces.release(message.pieces)
      pendingBytes -= Int(message.length - message.begun)
    }
    lanes[lane].outstanding[position].buffer = MessageArena.none
    release(message.charge)
    guard message.wantsReceipt else { return }
    tell(
      .receipt(
        channel: lanes[lane].channel, message: message.ticket, delivered: delivered))
  }
}

// MARK: Giving up

extension ChannelSet {
  /// Drops the unreliable messages that have not left.
  package mutating func dropUnreliable() {
    for lane in lanes.indices where !lanes[lane].mode.isReliable {
      dropWaiting(lane)
      refresh(lane)
    }
  }

  /// Drops everything of this side's; what the peer sends is still heard.
  package mutating func dropOutgoing() {
    for lane in lanes.indices {
      dropWaiting(lane)
      for position in 0..<lanes[lane].outstanding.count
      where !lanes[lane].outstanding[position].isDone {
        end(lane, position, delivered: false)
      }
      lanes[lane].openNumber = nil
      lanes[lane].dropDone()
      lanes[lane].resend.removeAll()
      lanes[lane].resendBulk.removeAll()
      refresh(lane)
    }
    riders.removeAll()
  }

  private mutating func dropWaiting(_ lane: Int) {
    while let message = lanes[lane].unsent.popFirst() {
      if !message.isDone { drop(message, lane) }
    }
    while let message = lanes[lane].unsentBulk.popFirst() {
      if !message.isDone { drop(message, lane) }
    }
    guard let message = lanes[lane].open else { return }
    lanes[lane].open = nil
    lanes[lane].openNumber = nil
    _ = receipts.lose(message.ticket)
    drop(message, lane)
  }
}
