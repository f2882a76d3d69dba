import CaromCore

// What goes out on a datagram path.
extension DatagramPath {
  /// Puts the next datagram into `buffer` and says where it goes; `nil` when there is none now.
  /// `carries` is whether messages go this way.
  mutating func pollTransmit(
    _ channels: inout ChannelSet, carries: Bool, into buffer: inout [UInt8], at now: Instant
  ) -> Way? {
    guard stage != .calling else { return pollHello(into: &buffer, at: now) }
    guard let way else { return nil }
    if let due = helloAt, now >= due {
      writePaddedHello(at: now)
      buffer.append(copying: writer.span)
      return way
    }
    guard writeProbe(at: now) || writePacket(&channels, carries: carries, at: now) else {
      return nil
    }
    buffer.append(copying: writer.span)
    return way
  }

  /// Whether a packet may be due that no message of the application is waiting for.
  mutating func mayTransmit(at now: Instant) -> Bool {
    guard stage == .answered, !owesPing, !owesAcknowledgement, helloAt == nil else { return true }
    if let due = received.acknowledgementDeadline, now >= due { return true }
    return flow.nextMTUProbe(at: now) != nil
  }

  private mutating func pollHello(
    into buffer: inout [UInt8], at now: Instant
  ) -> Way? {
    guard let due = helloAt, now >= due, !candidates.isEmpty else { return nil }
    let way = candidates[nextCandidate]
    nextCandidate += 1
    if nextCandidate == candidates.count {
      nextCandidate = 0
      writePaddedHello(at: now)
    } else {
      writePaddedHello(at: now)
      helloAt = now.advanced(byNanoseconds: Self.candidateDelay)
    }
    buffer.append(copying: writer.span)
    return way
  }

  /// A hello that asks for a cookie; the next one waits longer.
  private mutating func writePaddedHello(at now: Instant) {
    helloAt = now.advanced(byNanoseconds: helloDelay)
    helloDelay = min(helloDelay * 3 / 2, Self.longestHelloDelay)
    writer.begin(limit: Hello.paddedLength)
    Hello(key: key, epoch: epoch, resumes: resumes, cookie: nil).write(to: &writer)
  }

  /// A packet that only tries whether one of its size passes.
  private mutating func writeProbe(at now: Instant) -> Bool {
    guard stage == .answered, let size = flow.nextMTUProbe(at: now) else { return false }
    if !records.isEmpty { records.removeAll(keepingCapacity: true) }
    writer.begin(limit: size)
    header(acknowledgement: nil).write(to: &writer)
    _ = writer.appendPing()
    writer.appendPadding(to: size)
    flow.didSend(
      bytes: size, elicits: true, records: records, isMTUProbe: true,
      isAppLimited: true, at: now)
    return true
  }

  private mutating func writePacket(
    _ channels: inout ChannelSet, carries: Bool, at now: Instant
  ) -> Bool {
    let owes =
      owesAcknowledgement || received.acknowledgementDeadline.map { now >= $0 } ?? false
    let hasPending = carries && channels.hasPending
    let bulk = hasPending ? flow.allowance(at: now, urgent: false) : 0
    let mayFill =
      hasPending
      && (bulk > 0 || owesPing || channels.hasUrgent && flow.allowance(at: now, urgent: true) > 0)
    guard owes || owesPing || mayFill else { return false }
    if !records.isEmpty { records.removeAll(keepingCapacity: true) }
    writer.begin(limit: flow.packetSize)
    if stage == .proving { hello.write(to: &writer) }
    let told = writeHead(at: now)
    // Whoever only acknowledges hears of its packets all the same, now and then.
    if told, flow.wantsAnswer { owesPing = true }
    let head = writer.count
    if mayFill {
      let redundancy = Self.redundancy(at: flow.lossRate)
      channels.fill(
        &writer, records: &records, redundancy: redundancy, includeBulk: bulk > 0 || owesPing,
        includeLatest: true, at: now)
    }
    var hasMessages = writer.count > head
    guard hasMessages || owesPing || told else { return false }
    if owesPing, !hasMessages {
      // What was on its way is said again: it may be what was lost.
      hasMessages = carries && channels.fillUnacknowledged(&writer, records: &records)
      if !hasMessages { _ = writer.appendPing() }
    }
    let elicits = hasMessages || owesPing
    if told, elicits, let largest = received.largest {
      records.append(FrameRecord(.acknowledgement, number: largest))
    }
    owesPing = false
    owesAcknowledgement = false
    flow.didSend(
      bytes: writer.count, elicits: elicits, records: records,
      isMTUProbe: false, isAppLimited: !(carries && channels.hasPending), at: now)
    return true
  }

  /// How often a small reliable message rides along again before it is known to be lost.
  private static func redundancy(at loss: Double) -> Int {
    switch loss {
    case ..<0.005: 0
    case ..<0.02: 1
    case ..<0.06: 2
    default: 3
    }
  }

  private mutating func header(acknowledgement: ShortAcknowledgement?) -> DataHeader {
    let length = DataHeader.numberLength(
      next: flow.nextNumber, largestAcknowledged: flow.largestAcknowledged,
      packetsPerSecond: Int(flow.pacingRate) / flow.packetSize)
    return DataHeader(
      role: isCaller ? .caller : .callee, number: flow.nextNumber, numberLength: length,
      acknowledgement: acknowledgement)
  }

  /// Writes the header and what is to be acknowledged; says whether that was anything.
  private mutating func writeHead(at now: Instant) -> Bool {
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
