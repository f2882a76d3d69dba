import CaromCore

extension DatagramFlow {
  /// When `handleTimeout` is wanted.
  package var nextTimeout: Instant? {
    var copy = self
    return copy.findTimeout()
  }

  /// `nextTimeout`, asked in place: nothing is copied.
  mutating func findTimeout() -> Instant? {
    let deadline = min(lossDeadline, findProbeDeadline())
    return deadline == .max ? nil : Instant(nanoseconds: deadline)
  }

  /// When a probe asks after what nothing was heard of.
  private mutating func findProbeDeadline() -> Int64 {
    var number = sent.waiting.head
    if let largest = detector.largest {
      while number < largest { number = sent.number(after: number) }
    }
    guard number != PacketRing.List.end else { return .max }
    // The peer answers the third packet at once, and one or two when they have waited.
    var asked = sent[number].sent + RoundTripEstimator.maximumHold
    for _ in 0..<2 where number != PacketRing.List.end { number = sent.number(after: number) }
    if number != PacketRing.List.end {
      asked = max(min(asked, sent[number].sent), lastAnswered(from: number))
    }
    return detector.probeDeadline(asked: asked, roundTrip)
  }

  /// When the last packet left that the peer answers, from `first` on: answers get lost too, and
  /// while others are on their way nobody has to ask.
  private func lastAnswered(from first: UInt64) -> Int64 {
    let end = sent[first].sent + roundTrip.smoothed * 3 / 4
    var (last, number) = (sent[first].sent, first)
    for _ in 0..<LossDetector.furtherAnswers {
      for _ in 0..<2 where number != PacketRing.List.end { number = sent.number(after: number) }
      guard number != PacketRing.List.end, sent[number].sent <= end else { break }
      last = sent[number].sent
    }
    return last
  }

  /// Gives up what is due; when it returns a probe, a packet has to leave at once, whatever
  /// `allowance` says.
  package mutating func handleTimeout(at now: Instant, lost: inout [FrameRecord]) -> Probe? {
    let time = now.nanoseconds
    if lossDeadline <= time { findLosses(at: time, telling: &lost) }
    guard findProbeDeadline() <= time else { return nil }
    detector.noteProbe(at: time)
    statistics.tailProbes += 1
    if detector.probes >= 2 { fallBackToShortPackets(at: time) }
    if detector.probes > LossDetector.patientProbes {
      giveUpAll(
        before: time - roundTrip.probeTimeout - RoundTripEstimator.maximumHold, at: time,
        telling: &lost)
      statistics.stalls += congestion.isStalled ? 0 : 1
      congestion.stall()
    }
    return .tail
  }

  /// Gives everything up: the path is gone.
  package mutating func abandonAll(lost: inout [FrameRecord]) {
    giveUpAll(before: .max, at: Int64.min / 2, telling: &lost)
  }

  /// The peer's address, or one's own, changed: numbers go on, and what was learnt of the path is
  /// forgotten.
  package mutating func pathChanged(at now: Instant) {
    firstOfPath = sent.nextNumber
    congestion = Congestion()
    detector.forgetPath()
    pacer = Pacer()
    loss = LossRate(memory: Self.lossMemory)
    search = PathMTUSearch(maximum: maximumPayload, at: now.nanoseconds)
  }

  // MARK: Giving up

  /// Gives up what was overtaken for too long, and sets the deadline for what is next.
  mutating func findLosses(at now: Int64, telling told: inout [FrameRecord]) {
    lossDeadline = .max
    var number = sent.waiting.head
    while number != PacketRing.List.end {
      guard let deadline = detector.deadline(of: number, sent: sent[number].sent, roundTrip)
      else { return }
      guard deadline <= now else {
        lossDeadline = deadline
        return
      }
      let following = sent.number(after: number)
      giveUp(number, at: now, telling: &told)
      number = following
    }
  }

  private mutating func giveUpAll(
    before time: Int64, at now: Int64, telling told: inout [FrameRecord]
  ) {
    while !sent.waiting.isEmpty, sent[sent.waiting.head].sent < time {
      giveUp(sent.waiting.head, at: now, telling: &told)
    }
    if sent.waiting.isEmpty { lossDeadline = .max }
  }

  private mutating func giveUp(
    _ number: UInt64, at now: Int64, telling told: inout [FrameRecord]
  ) {
    let (bytes, traits) = (Int(sent[number].bytes), sent[number].traits)
    sent.giveUp(number, at: now, telling: &told)
    statistics.packetsLost += 1
    if traits.contains(.probesMTU) {
      search.noteProbeLost(at: now)
      return
    }
    detector.noteLoss()
    loss.add(isLost: true)
    congestion.noteFate(isLost: true, isCalm: traits.contains(.isCalm))
    let patience = roundTrip.probeTimeout
    if search.noteLost(
      bytes - Self.headers, sent: sent[number].sent, patience: patience, at: now)
    {
      noteBlackHole()
    }
  }

  private mutating func fallBackToShortPackets(at now: Int64) {
    guard search.size > PathMTUSearch.base else { return }
    search.fallBack(at: now)
    noteBlackHole()
  }

  private mutating func noteBlackHole() {
    congestion.packetSize = search.size
    statistics.blackHoles += 1
  }
}
