import CaromCore

// Receiving on a datagram path.
extension DatagramPath {
  /// The records of the frames that were acknowledged or declared lost while a packet or a timeout
  /// was handled.
  struct Outcome: Sendable {
    var acknowledged: [FrameRecord] = []
    var lost: [FrameRecord] = []

    mutating func removeAll() {
      acknowledged.clear()
      lost.clear()
    }
  }

  /// Handles a data packet and adds its messages to `channels` or, if they can be read in place, to
  /// `arrivals`. Returns whether the packet was accepted.
  ///
  /// A malformed packet is dropped and not acknowledged. `allowsMessages` is false after the
  /// connection has ended and, on the responder's side, before the grant. A packet that contains an
  /// application message is then not acknowledged either, but the acknowledgements in it are
  /// processed. Before this side has sent a packet, all packets are dropped, because they belong to
  /// an earlier connection between the same endpoints.
  mutating func receive(
    _ packet: Span<UInt8>, _ channels: inout ChannelSet, allowsMessages: Bool,
    into arrivals: inout Arrivals, _ scratch: inout Scratch, at now: Instant
  ) -> Bool {
    guard isOpen || flow.nextNumber > 0 else { return false }
    do throws(DecodeError) {
      var reader = PacketReader(packet)
      let header = try DataHeader.readNumber(from: &reader)
      let number = header.expanded(after: received.largest)
      guard !received.isSeen(number) else { return false }
      guard isEncrypted else {
        // A path that is not encrypted and has a handshake is not open yet.
        guard isOpen || handshake == nil else { return false }
        guard !header.keyPhase else { throw .invalid(what: "data packet: key phase") }
        return try receiveContent(
          of: header, number, reader, at: 0, &channels, allowsMessages: allowsMessages,
          into: &arrivals, &scratch, at: now)
      }
      var opened: [UInt8] = []
      swap(&opened, &scratch.opened)
      defer { swap(&opened, &scratch.opened) }
      // Messages of earlier datagrams of the batch may still be unread.
      if arrivals.messages.isEmpty { opened.removeAll(keepingCapacity: true) }
      let (start, own, roundTrip) = (opened.count, flow.nextNumber, flow.roundTrip.smoothed)
      let isAuthentic = packetKeys?.open(
        packet, head: reader.offset, number: number, phase: header.keyPhase, into: &opened,
        ownNumber: own, roundTrip: roundTrip, at: now)
      guard isAuthentic == true else {
        forgedPackets += 1
        return false
      }
      arrivals.isOpened = true
      defer { arrivals.isOpened = false }
      return try receiveContent(
        of: header, number, PacketReader(opened.span.extracting(start..<opened.count)), at: start,
        &channels, allowsMessages: allowsMessages, into: &arrivals, &scratch, at: now)
    } catch {
      malformedPackets += 1
      return false
    }
  }

  /// Returns whether so many packets were forged that one of the next might be mistaken for the
  /// peer's.
  func hasTooManyForgeries(_ limits: KeyLimits) -> Bool {
    guard let keys else { return false }
    return forgedPackets >= limits.forgedPackets ?? keys.integrityLimit
  }

  /// Handles the content of a packet: everything after the packet number. The reader's bytes begin
  /// at offset `base` in the buffer to which the offsets of the messages in `arrivals` refer.
  @inline(__always)
  private mutating func receiveContent(
    of readable: DataHeader, _ number: UInt64, _ content: consuming PacketReader, at base: Int,
    _ channels: inout ChannelSet, allowsMessages: Bool, into arrivals: inout Arrivals,
    _ scratch: inout Scratch, at now: Instant
  ) throws(DecodeError) -> Bool {
    var reader = content
    var header = readable
    try header.readAcknowledgement(from: &reader)
    if let short = header.acknowledgement, received.largest.map({ number > $0 }) ?? true {
      // The short acknowledgement of an older packet contains nothing new.
      scratch.ranges.setShort(largest: short.expanded(after: flow.largestAcknowledged))
      try handleAcknowledgement(short.ackDelay, &scratch, at: now)
    }
    var isAckEliciting = false
    var hasForbiddenMessage = false
    var frames = FrameReader(reader)
    while let frame = try frames.next(ranges: &scratch.ranges) {
      if frame.elicitsAckOfPacket { isAckEliciting = true }
      switch frame {
      case .message(let message):
        guard allowsMessages || message.channel == SessionWire.controlChannel else {
          hasForbiddenMessage = true
          continue
        }
        let offset = base + frames.offset - message.payload.count
        try channels.receive(message, at: offset, into: &arrivals)
      case .credit(let channel, let limit):
        channels.handleCredit(channel: channel, limit: limit)
      case .acknowledgement(let ackDelay):
        try handleAcknowledgement(ackDelay, &scratch, at: now)
      case .ping, .padding: break
      }
    }
    if hasForbiddenMessage { return false }
    _ = received.insert(number, isAckEliciting: isAckEliciting, at: now)
    recordSignOfLife(at: now)
    growWindows(&channels, at: now)
    return true
  }

  /// Grows the receive windows at most once per round trip.
  private mutating func growWindows(_ channels: inout ChannelSet, at now: Instant) {
    guard now >= nextWindowGrowth, flow.roundTrip.hasSample else { return }
    let roundTrip = flow.roundTrip.smoothed
    channels.growWindows(roundTrip: roundTrip, at: now)
    nextWindowGrowth = now.advanced(byNanoseconds: roundTrip)
  }

  /// Handles an acknowledgement of the packets in `scratch.ranges`.
  @inline(__always)
  private mutating func handleAcknowledgement(
    _ ackDelay: AckDelay, _ scratch: inout Scratch, at now: Instant
  ) throws(DecodeError) {
    guard
      flow.handle(
        scratch.ranges, ackDelay: ackDelay.nanoseconds, at: now,
        acknowledged: &scratch.outcome.acknowledged, lost: &scratch.outcome.lost)
    else { throw .invalid(what: "acknowledgement of a packet that was never sent") }
    // The peer has received the ranges in this side's acknowledgement, so they need not be reported
    // again.
    if let confirmed = flow.takeConfirmed() { received.confirmAcknowledgement(upTo: confirmed) }
  }

  @inline(__always) private mutating func recordSignOfLife(at now: Instant) {
    lastReceived = now
    unansweredProbes = 0
    isSilent = false
    // While connecting, this side's own address may have changed, so hellos must continue.
    guard stage != .connecting else { return }
    nextHello = nil
    if hasToken { token = nil }
    beginsWithTicket = false
    unprovenBudget = nil
    stage = .validated
    guard isEncrypted, handshake != nil else { return }
    handshake = nil
    // There is nothing to repeat any more; see `handlePart`.
    isHandshakeDue = false
  }

  /// Sends an acknowledgement at the next opportunity instead of waiting for more packets.
  mutating func acknowledgeNow() { isAcknowledgementDue = true }

  /// Sends an ack-eliciting packet at the next opportunity.
  mutating func ping() { isPingDue = true }

  /// Declares all unacknowledged packets lost, because another link carries their messages now.
  mutating func abandonAll(_ outcome: inout Outcome) { flow.abandonAll(lost: &outcome.lost) }
}
