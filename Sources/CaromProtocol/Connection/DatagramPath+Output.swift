import CaromCore

// Sending on a datagram path.
extension DatagramPath {
  /// Writes the next datagram with `scratch.writer` and returns its route, or `nil` if no datagram
  /// can be sent now. `carriesMessages` tells whether this is the link that carries messages.
  mutating func pollTransmit(
    _ channels: inout ChannelSet, carriesMessages: Bool, _ scratch: inout Scratch, at now: Instant
  ) -> Route? {
    guard stage != .connecting else { return pollHello(&scratch, at: now) }
    guard let route else { return nil }
    if isOptimistic, let due = nextHello, now >= due {
      // The token was not accepted: it has expired or was lost, or another host now has the
      // address.
      reconnect(at: now)
      return pollHello(&scratch, at: now)
    }
    if stage == .securing {
      guard writeHandshake(&scratch.writer, at: now) else { return nil }
      return isInitiator ? route : candidates.first ?? route
    }
    if isHandshakeDue, !isInitiator { return repeatAnswer(&scratch.writer, route, at: now) }
    if let due = nextHello, now >= due {
      writePaddedHello(&scratch.writer, to: route)
      scheduleNextHellos(at: now)
      return route
    }
    changeKeyIfDue(at: now)
    guard !hasUsedUpKey() else { return nil }
    let hasPacket =
      writeMTUProbe(&scratch, at: now)
      || writePacket(&channels, carriesMessages: carriesMessages, &scratch, at: now)
    return hasPacket ? route : nil
  }

  /// Returns whether the sending key may encrypt no more packets. The method is mutating so that
  /// the path is accessed in place rather than copied.
  @inline(__always) mutating func hasUsedUpKey() -> Bool {
    isEncrypted && packetKeys?.isUsedUp(at: flow.nextNumber) == true
  }

  /// Writes the answer to a repetition of the initiator's first message, of a pattern with two
  /// messages, and returns the route to its sender.
  private mutating func repeatAnswer(
    _ writer: inout FrameWriter, _ route: Route, at now: Instant
  ) -> Route? {
    if let unprovenBudget, unprovenBudget < Self.minimumAllowance { return nil }
    guard writeHandshake(&writer, at: now) else { return nil }
    let target = candidates.first ?? route
    if target == route { recordUnproven(writer.count) }
    return target
  }

  /// Counts bytes that were sent to an address that is not proven.
  private mutating func recordUnproven(_ bytes: Int) {
    if let left = unprovenBudget { unprovenBudget = left - bytes }
  }

  /// The smallest number of bytes for a packet and the handshake message before it. If fewer may be
  /// sent, nothing is.
  static let minimumAllowance = 128

  /// Returns whether a packet may be due for a reason other than pending messages. If the result is
  /// false, no such packet is due.
  mutating func mayTransmit(at now: Instant) -> Bool {
    guard stage == .validated, !isPingDue, !isAcknowledgementDue, nextHello == nil
    else { return true }
    if let due = received.acknowledgementDeadline, now >= due { return true }
    return flow.nextMTUProbe(at: now) != nil
  }

  /// Writes a hello to the next candidate if one is due. Returns the candidate, or nil if none is
  /// due.
  private mutating func pollHello(_ scratch: inout Scratch, at now: Instant) -> Route? {
    guard let due = nextHello, now >= due, !candidates.isEmpty else { return nil }
    let route = candidates[nextCandidate]
    nextCandidate += 1
    writePaddedHello(&scratch.writer, to: route)
    if nextCandidate == candidates.count {
      nextCandidate = 0
      scheduleNextHellos(at: now)
    } else {
      nextHello = now.advanced(byNanoseconds: Self.candidateDelay)
    }
    return route
  }

  /// Schedules the next round of hellos, and increases the delay that will follow that round.
  mutating func scheduleNextHellos(at now: Instant) {
    nextHello = now.advanced(byNanoseconds: helloDelay)
    helloDelay = min(helloDelay * 3 / 2, Self.longestHelloDelay)
  }

  /// Writes a hello that asks for a cookie.
  private mutating func writePaddedHello(_ writer: inout FrameWriter, to route: Route) {
    let length = route.isDataChannel ? Hello.paddedChannelLength : Hello.paddedLength
    writer.begin(limit: length)
    Hello(key: key, epoch: epoch, resumes: resumes, cookie: nil, isSealed: isSealed)
      .write(to: &writer, padding: length)
  }

  /// Writes a path MTU probe, a packet with a ping and padding, if one is due. Returns whether a
  /// probe was written.
  private mutating func writeMTUProbe(_ scratch: inout Scratch, at now: Instant) -> Bool {
    guard stage == .validated, let size = flow.nextMTUProbe(at: now) else { return false }
    scratch.records.clear()
    scratch.writer.begin(limit: size)
    if isEncrypted { scratch.writer.reserve(LinkKeys.overhead) }
    let header = header(findNumberLength())
    header.write(to: &scratch.writer)
    _ = scratch.writer.appendPing()
    scratch.writer.appendPadding(to: scratch.writer.limit)
    seal(&scratch.writer, from: 0, header.readableLength)
    flow.didSend(
      bytes: size, isAckEliciting: true, records: scratch.records, isMTUProbe: true,
      isAppLimited: true, at: now)
    return true
  }

  /// Writes a packet with everything that is due: an acknowledgement, messages (if
  /// `carriesMessages` is true) or a ping. Returns `false` if nothing is due or nothing may be
  /// sent.
  private mutating func writePacket(
    _ channels: inout ChannelSet, carriesMessages: Bool, _ scratch: inout Scratch,
    at now: Instant
  ) -> Bool {
    let mustAcknowledge =
      isAcknowledgementDue || received.acknowledgementDeadline.map { now >= $0 } ?? false
    let hasPending = carriesMessages && channels.hasPending
    let allowance = hasPending ? flow.allowance(at: now, urgent: false) : 0
    let mayFill =
      hasPending
      && (allowance > 0 || isPingDue
        || channels.hasUrgent && flow.allowance(at: now, urgent: true) > 0)
    guard mustAcknowledge || isPingDue || mayFill else { return false }
    var limit = flow.packetSize
    if let unprovenBudget {
      guard unprovenBudget >= Self.minimumAllowance else { return false }
      limit = min(limit, unprovenBudget)
    }
    scratch.records.clear()
    scratch.writer.begin(limit: limit)
    if isEncrypted { scratch.writer.reserve(LinkKeys.overhead) }
    if stage == .validating { writePrefix(to: &scratch.writer) }
    let start = scratch.writer.count
    let numberLength = findNumberLength()
    let acknowledges = writeHead(&scratch.writer, numberLength, at: now)
    // A side that sends only acknowledgements must elicit an acknowledgement now and then.
    if acknowledges, flow.shouldElicitAck { isPingDue = true }
    let head = scratch.writer.count
    if mayFill {
      channels.fill(
        &scratch.writer, records: &scratch.records,
        redundancy: RedundantSends.redundancy(at: flow.lossRate),
        includeBulk: allowance > 0 || isPingDue, at: now)
    }
    var hasMessages = scratch.writer.count > head
    guard hasMessages || isPingDue || acknowledges else {
      // What is pending does not fit into the rest of what may be sent to an address that is not
      // proven. Without this, the time to send it would be now for ever.
      if unprovenBudget != nil { unprovenBudget = 0 }
      return false
    }
    if hasMessages { received.recordMessagesSent(at: now) }
    // Frames of any other length are not all pongs, so there is no need to read them.
    if hasMessages, (scratch.writer.count - head).isMultiple(of: FrameWriter.pongFrameLength) {
      hasMessages = Self.elicitsAck(scratch.writer.span.extracting(head...))
    }
    if isPingDue, !hasMessages {
      // A probe repeats unacknowledged messages, because their packets may be the ones that were
      // lost.
      hasMessages =
        carriesMessages && channels.fillUnacknowledged(&scratch.writer, records: &scratch.records)
      if !hasMessages { _ = scratch.writer.appendPing() }
    }
    let isAckEliciting = hasMessages || isPingDue
    isPingDue = false
    isAcknowledgementDue = false
    seal(&scratch.writer, from: start, 1 + numberLength)
    recordUnproven(scratch.writer.count)
    flow.didSend(
      bytes: scratch.writer.count, isAckEliciting: isAckEliciting, records: scratch.records,
      acknowledged: acknowledges ? received.largest : nil,
      isAppLimited: !(carriesMessages && channels.hasPending), at: now)
    return true
  }

  /// Whether a data packet with these frames, which this side has written, elicits an
  /// acknowledgement.
  private static func elicitsAck(_ frames: Span<UInt8>) -> Bool {
    var ranges = AcknowledgedRanges()
    var reader = FrameReader(frames)
    while let frame = try? reader.next(ranges: &ranges) {
      if frame.elicitsAckOfPacket { return true }
    }
    return false
  }

  /// Changes the key that encrypts this side's packets if that is due.
  @inline(__always)
  private mutating func changeKeyIfDue(at now: Instant) {
    guard isEncrypted else { return }
    let (next, acknowledged) = (flow.nextNumber, flow.largestAcknowledged)
    packetKeys?.changeIfDue(at: next, acknowledged: acknowledged, at: now)
  }

  /// Encrypts the packet that starts at `start`, except its first `head` bytes, if the path is
  /// encrypted.
  @inline(__always)
  private mutating func seal(_ writer: inout FrameWriter, from start: Int, _ head: Int) {
    guard isEncrypted else { return }
    writer.appendReserved(LinkKeys.overhead)
    let number = flow.nextNumber
    writer.withBytes { packetKeys?.seal(&$0, from: start, head: head, number: number) }
  }

  /// The number of bytes in which the next packet's number is sent.
  @inline(__always) private mutating func findNumberLength() -> Int {
    DataHeader.numberLength(
      next: flow.nextNumber, largestAcknowledged: flow.largestAcknowledged,
      packetsPerSecond: Int(flow.pacingRate) / flow.packetSize)
  }

  @inline(__always)
  private mutating func header(
    _ numberLength: Int, acknowledgement: ShortAcknowledgement? = nil
  ) -> DataHeader {
    DataHeader(
      role: isInitiator ? .initiator : .responder, number: flow.nextNumber,
      numberLength: numberLength, acknowledgement: acknowledgement,
      keyPhase: isEncrypted && packetKeys?.sendingPhase == true)
  }

  /// Writes the header and the acknowledgement that is due. Returns `false` if no acknowledgement
  /// was written.
  @inline(__always)
  private mutating func writeHead(
    _ writer: inout FrameWriter, _ numberLength: Int, at now: Instant
  ) -> Bool {
    guard received.hasUnacknowledged else {
      header(numberLength).write(to: &writer)
      return false
    }
    if let short = received.takeShortForm(at: now) {
      header(numberLength, acknowledgement: short).write(to: &writer)
      return true
    }
    header(numberLength).write(to: &writer)
    return received.appendRanges(to: &writer, at: now)
  }
}
