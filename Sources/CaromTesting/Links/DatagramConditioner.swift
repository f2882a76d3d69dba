import CaromCore

/// Decides what happens to datagrams between real sockets, in one direction: which are lost,
/// duplicated or changed, and when they arrive.
package struct DatagramConditioner: Sendable {
  private var link: LinkSimulator
  /// The time at which the conditioner was created. The times of outages and MTU changes are
  /// measured from it.
  private let start: Instant

  /// Creates a conditioner whose random behavior is determined by `seed`.
  package init(_ conditions: LinkConditions, seed: UInt64, at now: Instant) {
    conditions.check()
    link = LinkSimulator(from: 0, to: 1, conditions: SharedConditions(conditions), seed: seed)
    start = now
  }

  package var counters: LinkCounters { link.counters }

  /// Sends a datagram at `now`. Calls `deliver` with the bytes and the time of arrival of each copy
  /// that is not lost.
  package mutating func send(
    _ payload: [UInt8], isV6: Bool, at now: Instant, _ deliver: ([UInt8], Instant) -> Void
  ) {
    let time = Instant.zero + (now - start)
    let length = WireLength.datagram(payload: payload.count, isV6: isV6)
    link.counters.sent += 1
    link.counters.bytesSent += length
    switch link.admit(payload: payload.count, length: length, isV6: isV6, at: time) {
    case .dropped(let reason): link.counters.dropped[reason] += 1
    case .departs(let departure):
      let copyDelay = link.drawDuplication()
      carry(payload, isV6: isV6, from: departure, deliver)
      guard let copyDelay else { return }
      link.counters.duplicated += 1
      carry(payload, isV6: isV6, from: departure + copyDelay, deliver)
    }
  }

  private mutating func carry(
    _ payload: [UInt8], isV6: Bool, from departure: Instant, _ deliver: ([UInt8], Instant) -> Void
  ) {
    if let reason = link.drawLoss(payload: payload.count, isV6: isV6) {
      link.counters.dropped[reason] += 1
      return
    }
    var payload = payload
    if link.corrupt(&payload) { link.counters.corrupted += 1 }
    let (arrival, isReordered) = link.drawArrival(from: departure)
    if isReordered { link.counters.reordered += 1 }
    let conditions = link.conditions
    let obstacle: DropReason? =
      conditions.isCut
      ? .cut
      : conditions.blocksDatagrams
        ? .blocked : conditions.outage?.end(at: arrival) == nil ? nil : .outage
    if let obstacle {
      link.counters.dropped[obstacle] += 1
      return
    }
    link.counters.delivered += 1
    link.counters.bytesDelivered += WireLength.datagram(payload: payload.count, isV6: isV6)
    deliver(payload, start + (arrival - .zero))
  }
}
