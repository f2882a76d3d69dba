import CaromCore

extension DatagramFlow {
  /// What one acknowledgement brought.
  private struct Tally {
    /// The newest packet of those that elicit one.
    var newest: UInt64?
    var bytes = 0
  }

  /// Takes an acknowledgement; `ackDelay` is how many nanoseconds the peer held it back.
  ///
  /// False when it names a packet that was never sent: then nothing was taken, and the peer is at
  /// fault.
  package mutating func handle(
    _ ranges: borrowing AcknowledgedRanges, ackDelay: Int64, at now: Instant,
    acknowledged: inout [FrameRecord], lost: inout [FrameRecord]
  ) -> Bool {
    let time = now.nanoseconds
    guard let largest = ranges.largest else { return true }
    guard largest < sent.nextNumber else { return false }
    var tally = Tally()
    takeQuiet(ranges, telling: &acknowledged)
    takeWaiting(ranges, at: time, into: &tally, telling: &acknowledged)
    lookAtLost(ranges, at: time)
    guard let newest = tally.newest else { return true }
    detector.noteAnswer(at: time)
    let sample = noteRoundTrip(largest, newest, ackDelay: ackDelay, at: time)
    findLosses(at: time, telling: &lost)
    report(tally, newest, roundTrip: sample, at: time)
    return true
  }

  // MARK: What came

  /// The oldest range that reaches up to `oldest`.
  private func firstRange(_ ranges: borrowing AcknowledgedRanges, from oldest: UInt64) -> Int {
    var index = 0
    while index + 1 < ranges.count, ranges[index + 1].upperBound >= oldest { index += 1 }
    return index
  }

  private mutating func takeWaiting(
    _ ranges: borrowing AcknowledgedRanges, at now: Int64, into tally: inout Tally,
    telling told: inout [FrameRecord]
  ) {
    var number = sent.waiting.head
    guard let largest = ranges.largest, number <= largest else { return }
    var index = firstRange(ranges, from: number)
    while number <= largest {
      while number > ranges[index].upperBound { index -= 1 }
      let following = sent.number(after: number)
      if number >= ranges[index].lowerBound {
        noteArrival(of: number, at: now)
        tally.newest = number
        tally.bytes += Int(sent[number].bytes)
        sent.acknowledge(number, telling: &told)
      }
      number = following
    }
  }

  private mutating func noteArrival(of number: UInt64, at now: Int64) {
    let (bytes, traits) = (Int(sent[number].bytes), sent[number].traits)
    statistics.packetsAcknowledged += 1
    statistics.bytesAcknowledged += bytes
    delivery.add(bytes, at: now)
    detector.noteAcknowledged(number, sent: sent[number].sent, at: now)
    if traits.contains(.probesMTU) {
      search.noteProbeAcknowledged(bytes - Self.headers, at: now)
      congestion.packetSize = search.size
    } else {
      search.noteAcknowledged(bytes - Self.headers, sent: sent[number].sent)
      loss.add(isLost: false)
      congestion.noteFate(isLost: false, isCalm: traits.contains(.isCalm))
    }
  }

  private mutating func takeQuiet(
    _ ranges: borrowing AcknowledgedRanges, telling told: inout [FrameRecord]
  ) {
    var number = sent.quiet.head
    guard let largest = ranges.largest, number <= largest else { return }
    var index = firstRange(ranges, from: number)
    while number <= largest {
      while number > ranges[index].upperBound { index -= 1 }
      let following = sent.number(after: number)
      if number >= ranges[index].lowerBound { sent.acknowledge(number, telling: &told) }
      number = following
    }
  }

  /// Now and then, whether something came that was given up.
  private mutating func lookAtLost(_ ranges: borrowing AcknowledgedRanges, at now: Int64) {
    guard now - lastLookAtLost >= roundTrip.minimum / 8 else { return }
    lastLookAtLost = now
    sent.forgetLost(before: now - Self.memory * roundTrip.smoothed)
    var number = sent.lost.head
    guard let largest = ranges.largest, number <= largest else { return }
    var index = firstRange(ranges, from: number)
    while number <= largest {
      while number > ranges[index].upperBound { index -= 1 }
      let following = sent.number(after: number)
      if number >= ranges[index].lowerBound { takeBackLoss(of: number, at: now) }
      number = following
    }
  }

  private mutating func takeBackLoss(of number: UInt64, at now: Int64) {
    let (bytes, traits) = (Int(sent[number].bytes), sent[number].traits)
    sent.forget(number)
    statistics.spuriousLosses += 1
    delivery.add(bytes, at: now)
    detector.noteMistake(roundTrip)
    if traits.contains(.probesMTU) {
      search.noteProbeAcknowledged(bytes - Self.headers, at: now)
    } else {
      loss.takeBack()
      congestion.takeBackLoss(isCalm: traits.contains(.isCalm))
    }
  }

  // MARK: What it tells

  /// A sample, where the largest number of the acknowledgement is what it brought.
  private mutating func noteRoundTrip(
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

  private mutating func report(
    _ tally: Tally, _ newest: UInt64, roundTrip sample: Int64?, at now: Int64
  ) {
    let rate =
      newest >= firstOfPath
      ? delivery.sample(closing: sent[newest], minimum: roundTrip.minimum) : nil
    congestion.handle(
      Congestion.Report(
        now: now, roundTrip: sample, sample: rate, delivered: delivery.delivered,
        acknowledged: tally.bytes, inFlight: sent.inFlight))
    pacer.limitDebt(at: now, rate: congestion.rate)
  }
}
