import CaromCore

extension ChannelSet {
  /// Puts as many frames into a packet as it has room for: credits, messages by their priority,
  /// then small ones that left before and may be lost: those of this packet ride along with the
  /// next `redundancy` packets, on average. A record is appended
  /// for each frame whose fate has to be told.
  package mutating func fill(
    _ writer: inout FrameWriter, records: inout [FrameRecord], redundancy: Double = 0,
    includeBulk: Bool = true, includeLatest: Bool = true, at now: Instant
  ) {
    outgoing.packetCount &+= 1
    adopt(packetLimit: writer.limit - ChannelLimits.wholeReserve)
    if creditsDue > 0 { writeCredits(&writer, &records) }
    if scheduler.hasAny {
      let filling = Filling(
        rides: redundancy + outgoing.riders.leftover, includeBulk: includeBulk, now: now)
      writeMessages(&writer, &records, filling, includeLatest: includeLatest)
    }
    if outgoing.riders.count > 0 {
      if redundancy == 0 { outgoing.riders.removeAll() }
      writeRiders(&writer, &records)
    }
  }

  private mutating func writeMessages(
    _ writer: inout FrameWriter, _ records: inout [FrameRecord], _ filling: Filling,
    includeLatest: Bool
  ) {
    var filling = filling
    var misfits = 0
    while writer.room > 2, misfits < ChannelLimits.misfits,
      let lane = scheduler.next(includeBulk: filling.includeBulk, includeLatest: includeLatest)
    {
      switch serve(lane, &writer, &records, &filling) {
      case .wrote: break
      case .noRoom:
        misfits += 1
        scheduler.passOver(lane)
      case .nothing: scheduler.passOver(lane)
      }
    }
    scheduler.restore()
  }

  /// Writes frames of a lane while it is its turn.
  private mutating func serve(
    _ lane: Int, _ writer: inout FrameWriter, _ records: inout [FrameRecord],
    _ filling: inout Filling
  ) -> Filling.Turn {
    while true {
      let turn = lanes[lane].serve(&outgoing, &writer, &records, filling)
      let readiness = lanes[lane].readiness(&outgoing)
      scheduler.set(readiness, of: lane)
      guard case .wrote(let count) = turn else { return turn }
      filling.hasMessage = true
      guard scheduler.charge(lane, count), writer.room > 2,
        readiness == .small || readiness == .bulk && filling.includeBulk
      else { return turn }
    }
  }

  /// Packets have another size from now on.
  private mutating func adopt(packetLimit limit: Int) {
    guard limit != outgoing.packetLimit else { return }
    outgoing.packetLimit = max(0, limit)
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

  /// Small reliable messages of the packets before ride along.
  private mutating func writeRiders(
    _ writer: inout FrameWriter, _ records: inout [FrameRecord]
  ) {
    for _ in 0..<outgoing.riders.count {
      guard var rider = outgoing.riders.popFirst() else { return }
      if rider.packet != outgoing.packetCount {
        guard let lane = sendLane(of: rider.channel, rider.delivery) else { continue }
        switch lanes[lane].ride(rider.number, &outgoing, &writer, &records) {
        case .over: continue
        case .noRoom: break
        case .rode:
          outgoing.statistics.ridden += 1
          rider.rides -= 1
        }
      }
      if rider.rides > 0 { outgoing.riders.append(rider) }
    }
  }

  /// Puts messages into a packet that are on their way already, the oldest of each lane first: what
  /// a probe carries when nothing else waits. Pieces are left out. `false` when there were none.
  @discardableResult
  package mutating func fillUnacknowledged(
    _ writer: inout FrameWriter, records: inout [FrameRecord]
  ) -> Bool {
    let before = writer.count
    for lane in lanes.indices where lanes[lane].delivery.isReliable {
      lanes[lane].sendUnacknowledged(&outgoing, &writer, &records)
    }
    return writer.count > before
  }
}
