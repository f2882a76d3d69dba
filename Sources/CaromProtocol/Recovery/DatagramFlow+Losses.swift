import CaromCore

extension DatagramFlow {
  /// Returns the time at which `handleTimeout` must be called, or nil if no timer is armed. The
  /// method is mutating so that the flow is accessed in place rather than copied.
  package mutating func findTimeout() -> Instant? {
    let deadline = findDeadline()
    return deadline == .max ? nil : Instant(nanoseconds: deadline)
  }

  /// Returns the time, in nanoseconds, at which `handleTimeout` must be called, or `.max` if no
  /// timer is armed.
  @inline(__always) mutating func findDeadline() -> Int64 {
    min(lossDeadline, findProbeDeadline())
  }

  /// Returns the time, in nanoseconds, at which to send a probe for the oldest outstanding packet
  /// that is newer than the largest acknowledged one, or `.max` if there is no such packet.
  private mutating func findProbeDeadline() -> Int64 {
    var number = sent.outstanding.head
    if let largest = detector.largestAcknowledged {
      while number < largest { number = sent.number(after: number) }
    }
    guard number != PacketRing.List.end else { return .max }
    // The peer acknowledges the third packet at once, and one or two packets after a delay.
    var asked = sent[number].sent + RoundTripEstimator.maximumAckDelay
    for _ in 0..<2 where number != PacketRing.List.end { number = sent.number(after: number) }
    if number != PacketRing.List.end {
      asked = max(min(asked, sent[number].sent), lastAcknowledgedSend(from: number))
    }
    return detector.probeDeadline(asked: asked, roundTrip)
  }

  /// Returns the send time of the last packet whose acknowledgement must be overdue before a probe
  /// is sent. An acknowledgement can itself be lost, so if enough packets are in flight, this is
  /// not `first` but a packet up to `additionalAnswers` acknowledgements later.
  private func lastAcknowledgedSend(from first: UInt64) -> Int64 {
    let end = sent[first].sent + roundTrip.smoothed * 3 / 4
    var (last, number) = (sent[first].sent, first)
    for _ in 0..<LossDetector.additionalAnswers {
      for _ in 0..<2 where number != PacketRing.List.end { number = sent.number(after: number) }
      guard number != PacketRing.List.end, sent[number].sent <= end else { break }
      last = sent[number].sent
    }
    return last
  }

  /// Declares lost all packets whose loss deadline has passed.
  ///
  /// Returns true if a probe must be sent at once, even if `allowance` returns 0. The probe is an
  /// ack-eliciting packet with new data, with data that was sent but not acknowledged, or with just
  /// a ping.
  package mutating func handleTimeout(at now: Instant, lost: inout [FrameRecord]) -> Bool {
    let time = now.nanoseconds
    if lossDeadline <= time { detectLosses(at: time, into: &lost) }
    guard findProbeDeadline() <= time else { return false }
    detector.recordProbe(at: time)
    statistics.tailProbes += 1
    if detector.probes >= 2 { fallBackToShortPackets(at: time) }
    if detector.probes > LossDetector.probesBeforeBackoff {
      declareAllLost(
        sentBefore: time - roundTrip.probeTimeout - RoundTripEstimator.maximumAckDelay, at: time,
        into: &lost)
      statistics.stalls += congestion.isStalled ? 0 : 1
      congestion.stall()
    }
    return true
  }

  /// Declares all packets lost, because the path is abandoned.
  package mutating func abandonAll(lost: inout [FrameRecord]) {
    declareAllLost(sentBefore: .max, at: Int64.min / 2, into: &lost)
  }

  /// Discards the measurements of the path, because the address of either end has changed. Packet
  /// numbers continue.
  package mutating func resetPath(at now: Instant) {
    firstOfPath = sent.nextNumber
    firstOfSearch = sent.nextNumber
    congestion = CongestionController()
    detector.resetPath()
    pacer = Pacer()
    loss = LossRate(memory: Self.lossMemory)
    search = PathMTUSearch(
      maximum: maximumPayload, overhead: search.overhead, at: now.nanoseconds)
  }

  // MARK: Losses

  /// Declares all packets past their reordering window lost, and sets `lossDeadline` for the next
  /// packet.
  mutating func detectLosses(at now: Int64, into lost: inout [FrameRecord]) {
    lossDeadline = .max
    var number = sent.outstanding.head
    while number != PacketRing.List.end {
      guard let deadline = detector.lossDeadline(of: number, sent: sent[number].sent, roundTrip)
      else { return }
      guard deadline <= now else {
        lossDeadline = deadline
        return
      }
      let following = sent.number(after: number)
      declareLost(number, at: now, into: &lost)
      number = following
    }
  }

  private mutating func declareAllLost(
    sentBefore time: Int64, at now: Int64, into lost: inout [FrameRecord]
  ) {
    while !sent.outstanding.isEmpty, sent[sent.outstanding.head].sent < time {
      declareLost(sent.outstanding.head, at: now, into: &lost)
    }
    if sent.outstanding.isEmpty { lossDeadline = .max }
  }

  private mutating func declareLost(
    _ number: UInt64, at now: Int64, into lost: inout [FrameRecord]
  ) {
    let (bytes, traits) = (Int(sent[number].bytes), sent[number].traits)
    sent.declareLost(number, at: now, into: &lost)
    statistics.packetsLost += 1
    if traits.contains(.isMTUProbe) {
      if number >= firstOfSearch { search.recordProbeLost(at: now) }
      return
    }
    detector.recordLoss()
    loss.add(isLost: true)
    congestion.recordFate(isLost: true, isCalm: traits.contains(.isCalm))
    let patience = roundTrip.probeTimeout
    if search.recordLost(
      bytes - Self.headers, sent: sent[number].sent, patience: patience, at: now)
    {
      recordBlackHole()
    }
  }

  private mutating func fallBackToShortPackets(at now: Int64) {
    guard search.size > PathMTUSearch.base else { return }
    search.fallBack(at: now)
    recordBlackHole()
  }

  private mutating func recordBlackHole() {
    firstOfSearch = sent.nextNumber
    congestion.packetSize = search.size
    statistics.blackHoles += 1
  }
}
