import CaromCore

extension DatagramFlow {
  /// A summary of the ack-eliciting packets that one acknowledgement newly acknowledged.
  private struct Tally {
    /// The highest number among these packets, or nil if there are none.
    var newest: UInt64?
    /// The total length of these packets, in bytes.
    var bytes = 0
  }

  /// Processes an acknowledgement, which the peer delayed by `ackDelay` nanoseconds.
  ///
  /// Returns false, without any effect, if the acknowledgement includes a packet that was never
  /// sent, which is a violation of the protocol.
  package mutating func handle(
    _ ranges: borrowing AcknowledgedRanges, ackDelay: Int64, at now: Instant,
    acknowledged: inout [FrameRecord], lost: inout [FrameRecord]
  ) -> Bool {
    let time = now.nanoseconds
    guard let largest = ranges.largest else { return true }
    guard largest < sent.nextNumber else { return false }
    var tally = Tally()
    acknowledgeNonEliciting(ranges, into: &acknowledged)
    acknowledgeOutstanding(ranges, at: time, tally: &tally, into: &acknowledged)
    detectSpuriousLosses(ranges, at: time)
    guard let newest = tally.newest else { return true }
    detector.recordAnswer(at: time)
    let sample = addRoundTrip(largest, newest, ackDelay: ackDelay, at: time)
    detectLosses(at: time, into: &lost)
    updateCongestion(tally, newest, roundTrip: sample, at: time)
    return true
  }

  // MARK: Acknowledged packets

  /// Returns the index of the oldest range whose upper bound is at least `oldest`, or 0 if there is
  /// none.
  private func firstRange(_ ranges: borrowing AcknowledgedRanges, from oldest: UInt64) -> Int {
    var index = 0
    while index + 1 < ranges.count, ranges[index + 1].upperBound >= oldest { index += 1 }
    return index
  }

  private mutating func acknowledgeOutstanding(
    _ ranges: borrowing AcknowledgedRanges, at now: Int64, tally: inout Tally,
    into acknowledged: inout [FrameRecord]
  ) {
    var number = sent.outstanding.head
    guard let largest = ranges.largest, number <= largest else { return }
    var index = firstRange(ranges, from: number)
    while number <= largest {
      while number > ranges[index].upperBound { index -= 1 }
      let following = sent.number(after: number)
      if number >= ranges[index].lowerBound {
        recordAcknowledged(number, at: now)
        tally.newest = number
        tally.bytes += Int(sent[number].bytes)
        sent.acknowledge(number, into: &acknowledged)
      }
      number = following
    }
  }

  private mutating func recordAcknowledged(_ number: UInt64, at now: Int64) {
    let (bytes, traits) = (Int(sent[number].bytes), sent[number].traits)
    statistics.packetsAcknowledged += 1
    statistics.bytesAcknowledged += bytes
    delivery.add(bytes, at: now)
    detector.recordAcknowledged(number, sent: sent[number].sent, at: now)
    if traits.contains(.isMTUProbe) {
      recordProbeAcknowledged(number, bytes, at: now)
    } else {
      search.recordAcknowledged(bytes - Self.headers, sent: sent[number].sent)
      loss.add(isLost: false)
      congestion.recordFate(isLost: false, isCalm: traits.contains(.isCalm))
    }
  }

  /// Adopts the size of an acknowledged path MTU probe of `bytes` bytes, headers included, unless
  /// the probe was sent on an earlier path or before a black hole was found.
  private mutating func recordProbeAcknowledged(_ number: UInt64, _ bytes: Int, at now: Int64) {
    guard number >= firstOfSearch else { return }
    search.recordProbeAcknowledged(bytes - Self.headers, at: now)
    congestion.packetSize = search.size
  }

  private mutating func acknowledgeNonEliciting(
    _ ranges: borrowing AcknowledgedRanges, into acknowledged: inout [FrameRecord]
  ) {
    var number = sent.nonEliciting.head
    guard let largest = ranges.largest, number <= largest else { return }
    var index = firstRange(ranges, from: number)
    while number <= largest {
      while number > ranges[index].upperBound { index -= 1 }
      let following = sent.number(after: number)
      if number >= ranges[index].lowerBound { sent.acknowledge(number, into: &acknowledged) }
      number = following
    }
  }

  /// Searches for acknowledged packets among those declared lost, at most eight times per round
  /// trip.
  private mutating func detectSpuriousLosses(
    _ ranges: borrowing AcknowledgedRanges, at now: Int64
  ) {
    guard now - lastSpuriousCheck >= roundTrip.minimum / 8 else { return }
    lastSpuriousCheck = now
    sent.removeLost(before: now - Self.lostPacketMemory * roundTrip.smoothed)
    var number = sent.lost.head
    guard let largest = ranges.largest, number <= largest else { return }
    var index = firstRange(ranges, from: number)
    while number <= largest {
      while number > ranges[index].upperBound { index -= 1 }
      let following = sent.number(after: number)
      if number >= ranges[index].lowerBound { recordSpuriousLoss(of: number, at: now) }
      number = following
    }
  }

  private mutating func recordSpuriousLoss(of number: UInt64, at now: Int64) {
    let (bytes, traits) = (Int(sent[number].bytes), sent[number].traits)
    sent.removeLost(number)
    statistics.spuriousLosses += 1
    delivery.add(bytes, at: now)
    detector.noteSpuriousLoss(roundTrip)
    if traits.contains(.isMTUProbe) {
      recordProbeAcknowledged(number, bytes, at: now)
    } else {
      loss.undoLoss()
      congestion.undoLoss(isCalm: traits.contains(.isCalm))
    }
  }

  // MARK: Congestion control

  /// Adds a round-trip sample and returns it. Returns nil without adding a sample if the largest
  /// number in the acknowledgement is not newly acknowledged, if its packet was not sent on the
  /// current path, or if there are earlier samples and the peer delayed the acknowledgement for
  /// longer than can be encoded.
  private mutating func addRoundTrip(
    _ largest: UInt64, _ newest: UInt64, ackDelay: Int64, at now: Int64
  ) -> Int64? {
    guard newest == largest, newest >= firstOfPath,
      ackDelay < AckDelay.longest.nanoseconds || !roundTrip.hasSample
    else { return nil }
    let whole = now - sent[newest].sent
    let least = roundTrip.hasSample ? roundTrip.minimum : whole
    let sample = max(whole - max(ackDelay, 0), min(least, whole))
    congestion.roundTrip.add(sample, at: now)
    return sample
  }

  private mutating func updateCongestion(
    _ tally: Tally, _ newest: UInt64, roundTrip sample: Int64?, at now: Int64
  ) {
    let rate =
      newest >= firstOfPath
      ? delivery.sample(closing: sent[newest], minimum: roundTrip.minimum) : nil
    congestion.handle(
      CongestionController.Report(
        now: now, roundTrip: sample, sample: rate, delivered: delivery.delivered,
        acknowledged: tally.bytes, inFlight: sent.inFlight))
    pacer.limitDebt(at: now, rate: congestion.rate)
  }
}
