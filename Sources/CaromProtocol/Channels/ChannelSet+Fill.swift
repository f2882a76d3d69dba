import CaromCore

extension ChannelSet {
  /// Writes as many frames into a packet as fit: first credits, then messages in order of priority,
  /// then redundant copies of small reliable messages from earlier packets.
  ///
  /// On average, each small reliable message in this packet is repeated in the next `redundancy`
  /// packets. A record is appended to `records` for every frame whose acknowledgement or loss
  /// matters. Bulk messages are left out if `includeBulk` is false, and unreliable messages if
  /// `includeLatest` is false.
  package mutating func fill(
    _ writer: inout FrameWriter, records: inout [FrameRecord], redundancy: Double = 0,
    includeBulk: Bool = true, includeLatest: Bool = true, at now: Instant
  ) {
    sendState.packetCount &+= 1
    updatePacketLimit(writer.limit - ChannelLimits.wholeReserve)
    if creditsDue > 0 { writeCredits(&writer, &records) }
    if scheduler.hasAny {
      let filling = Filling(
        redundancy: redundancy + sendState.redundantSends.leftover, includeBulk: includeBulk,
        now: now)
      writeMessages(&writer, &records, filling, includeLatest: includeLatest)
    }
    if sendState.redundantSends.count > 0 {
      if redundancy == 0 { sendState.redundantSends.removeAll() }
      writeRedundantSends(&writer, &records)
    }
  }

  private mutating func writeMessages(
    _ writer: inout FrameWriter, _ records: inout [FrameRecord], _ filling: Filling,
    includeLatest: Bool
  ) {
    var filling = filling
    var misfits = 0
    while scheduler.hasAny, writer.room > 2, misfits < ChannelLimits.misfits,
      let lane = scheduler.next(
        includeBulk: filling.includeBulk, includeLatest: includeLatest, in: &lanes)
    {
      let (turn, change) = lanes[lane].takeTurn(&sendState, &writer, &records, &filling)
      if turn == .wrote {
        scheduler.finishTurn(of: lane, change, in: &lanes)
      } else {
        if turn == .noRoom { misfits += 1 }
        scheduler.record(change, of: lane, in: &lanes)
        scheduler.skip(lane, in: &lanes)
      }
    }
    scheduler.restoreSkipped(in: &lanes)
  }

  /// Adopts a new packet size, which determines which messages count as bulk.
  private mutating func updatePacketLimit(_ limit: Int) {
    guard limit != sendState.packetLimit else { return }
    sendState.packetLimit = max(0, limit)
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

  /// Fills a probe packet with unacknowledged messages when nothing new is queued, beginning with
  /// the oldest message of each lane. Fragments are not repeated. Returns `false` if nothing was
  /// written.
  @discardableResult
  package mutating func fillUnacknowledged(
    _ writer: inout FrameWriter, records: inout [FrameRecord]
  ) -> Bool {
    let before = writer.count
    for lane in lanes.indices where lanes[lane].delivery.isReliable {
      lanes[lane].repeatUnacknowledged(&sendState, &writer, &records)
    }
    return writer.count > before
  }
}
