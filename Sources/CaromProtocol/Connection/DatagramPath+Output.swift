import CaromCore

// What goes out on a datagram path.
extension DatagramPath {
  /// Puts the next datagram into `buffer` and says where it goes; `nil` when there is none now.
  /// `carries` is whether messages go this way.
  mutating func pollTransmit(
    _ channels: inout ChannelSet, carries: Bool, _ scratch: inout Scratch,
    into buffer: inout [UInt8], at now: Instant
  ) -> Route? {
    guard stage != .calling else { return pollHello(&scratch, into: &buffer, at: now) }
    guard let way else { return nil }
    if token != nil, let due = helloAt, now >= due {
      // Nobody took the token: it is too old, or lost, or this is not that host any more.
      callAgain(at: now)
      return pollHello(&scratch, into: &buffer, at: now)
    }
    if let due = helloAt, now >= due {
      writePaddedHello(&scratch.writer, at: now)
      buffer.append(copying: scratch.writer.span)
      return way
    }
    guard
      writeProbe(&scratch, at: now)
        || writePacket(&channels, carries: carries, &scratch, at: now)
    else {
      return nil
    }
    buffer.append(copying: scratch.writer.span)
    return way
  }

  /// Whether a packet may be due that no message of the application is waiting for.
  mutating func mayTransmit(at now: Instant) -> Bool {
    guard stage == .answered, !owesPing, !owesAcknowledgement, helloAt == nil else { return true }
    if let due = received.acknowledgementDeadline, now >= due { return true }
    return flow.nextMTUProbe(at: now) != nil
  }

  private mutating func pollHello(
    _ scratch: inout Scratch, into buffer: inout [UInt8], at now: Instant
  ) -> Route? {
    guard let due = helloAt, now >= due, !candidates.isEmpty else { return nil }
    let way = candidates[nextCandidate]
    nextCandidate += 1
    if nextCandidate == candidates.count {
      nextCandidate = 0
      writePaddedHello(&scratch.writer, at: now)
    } else {
      writePaddedHello(&scratch.writer, at: now)
      helloAt = now.advanced(byNanoseconds: Self.candidateDelay)
    }
    buffer.append(copying: scratch.writer.span)
    return way
  }

  /// A hello that asks for a cookie; the next one waits longer.
  private mutating func writePaddedHello(_ writer: inout FrameWriter, at now: Instant) {
    helloAt = now.advanced(byNanoseconds: helloDelay)
    helloDelay = min(helloDelay * 3 / 2, Self.longestHelloDelay)
    writer.begin(limit: Hello.paddedLength)
    Hello(key: key, epoch: epoch, resumes: resumes, cookie: nil).write(to: &writer)
  }

  /// A packet that only tries whether one of its size passes.
  private mutating func writeProbe(_ scratch: inout Scratch, at now: Instant) -> Bool {
    guard stage == .answered, let size = flow.nextMTUProbe(at: now) else { return false }
    if !scratch.records.isEmpty { scratch.records.removeAll(keepingCapacity: true) }
    scratch.writer.begin(limit: size)
    header(acknowledgement: nil).write(to: &scratch.writer)
    _ = scratch.writer.appendPing()
    scratch.writer.appendPadding(to: size)
    flow.didSend(
      bytes: size, isAckEliciting: true, records: scratch.records, isMTUProbe: true,
      isAppLimited: true, at: now)
    return true
  }

  private mutating func writePacket(
    _ channels: inout ChannelSet, carries: Bool, _ scratch: inout Scratch, at now: Instant
  ) -> Bool {
    let owes =
      owesAcknowledgement || received.acknowledgementDeadline.map { now >= $0 } ?? false
    let hasPending = carries && channels.hasPending
    let bulk = hasPending ? flow.allowance(at: now, urgent: false) : 0
    let mayFill =
      hasPending
      && (bulk > 0 || owesPing || channels.hasUrgent && flow.allowance(at: now, urgent: true) > 0)
    guard owes || owesPing || mayFill else { return false }
    if !scratch.records.isEmpty { scratch.records.removeAll(keepingCapacity: true) }
    scratch.writer.begin(limit: flow.packetSize)
    if stage == .proving { hello.write(to: &scratch.writer) }
    let told = writeHead(&scratch.writer, at: now)
    // Whoever only acknowledges hears of its packets all the same, now and then.
    if told, flow.wantsAnswer { owesPing = true }
    let head = scratch.writer.count
    if mayFill {
      let redundancy = Self.redundancy(at: flow.lossRate)
      channels.fill(
        &scratch.writer, records: &scratch.records, redundancy: redundancy,
        includeBulk: bulk > 0 || owesPing,
        includeLatest: true, at: now)
    }
    var hasMessages = scratch.writer.count > head
    guard hasMessages || owesPing || told else { return false }
    if hasMessages { received.noteMessagesSent(at: now) }
    if owesPing, !hasMessages {
      // What was on its way is said again: it may be what was lost.
      hasMessages =
        carries && channels.fillUnacknowledged(&scratch.writer, records: &scratch.records)
      if !hasMessages { _ = scratch.writer.appendPing() }
    }
    let isAckEliciting = hasMessages || owesPing
    if told, isAckEliciting, let largest = received.largest {
      scratch.records.append(FrameRecord(.acknowledgement, number: largest))
    }
    owesPing = false
    owesAcknowledgement = false
    flow.didSend(
      bytes: scratch.writer.count, isAckEliciting: isAckEliciting, records: scratch.records,
      isMTUProbe: false, isAppLimited: !(carries && channels.hasPending), at: now)
    return true
  }

  /// How often a small reliable message rides along again before it is known to be lost, on
  /// average: as often as keeps one in a hundred from waiting for a loss to be seen, where one that
  /// is lost with all its copies holds up the seven behind it.
  static func redundancy(at loss: Double) -> Double {
    switch loss {
    case ..<0.005: 0
    case ..<0.026: 1
    case ..<0.066: 1 + (loss - 0.026) / 0.04
    case ..<0.12: 2
    case ..<0.2: 2 + (loss - 0.12) / 0.08
    default: 3
    }
  }

  private mutating func header(acknowledgement: ShortAcknowledgement?) -> DataHeader {
    let length = DataHeader.numberLength(
      next: flow.nextNumber, largestAcknowledged: flow.largestAcknowledged,
      packetsPerSecond: Int(flow.pacingRate) / flow.packetSize)
    return DataHeader(
      role: isCaller ? .initiator : .responder, number: flow.nextNumber, numberLength: length,
      acknowledgement: acknowledgement)
  }

  /// Writes the header and what is to be acknowledged; says whether that was anything.
  private mutating func writeHead(_ writer: inout FrameWriter, at now: Instant) -> Bool {
    guard received.hasNews else {
      header(acknowledgement: nil).write(to: &writer)
      return false
    }
    if let short = received.takeShortForm(at: now) {
      header(acknowledgement: short).write(to: &writer)
      return true
    }
    header(acknowledgement: nil).write(to: &writer)
    return received.appendRanges(to: &writer, at: now)
  }
}
