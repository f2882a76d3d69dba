import CaromCodec
import CaromCore

// What carries a connection: a stream, datagrams, or both.

// MARK: - Links come and go
extension Connection {
  /// A stream to the other side is open: this side asks on it. `false` where there is no use for it
  /// any more.
  @discardableResult
  package mutating func addStream(at now: Instant) -> Bool {
    guard !isEnding, stream == nil else { return false }
    var path = StreamPath(limit: StreamPath.frameLimit)
    path.append(
      isOpen
        ? .join(version: SessionWire.version, key)
        : .request(version: SessionWire.version, key, local))
    stream = path
    return true
  }

  /// Calls the other side over datagrams, at the first of `ways` that answers; with a token of one
  /// of them it asks there at once.
  package mutating func call(_ ways: [Route], token: JoinToken? = nil, at now: Instant) {
    guard !isEnding, isCaller, !ways.isEmpty else { return }
    if datagram == nil {
      datagram = .calling(ways, key: key, token: token, at: now)
      sayRequest(at: now)
    } else {
      datagram?.callAgain(ways, at: now)
    }
  }

  /// A connection that the other side began over datagrams, where its address is proven.
  static func called(
    _ hello: Hello, from source: Route, as local: PeerInfo, timing: SessionTiming, at now: Instant
  ) -> Connection {
    var connection = Connection(
      local: local, timing: timing, key: hello.key, isCaller: false,
      state: .awaitingRequest(deadline: now.advanced(by: timing.handshakeLimit)), at: now)
    connection.datagram = .called(hello, from: source, at: now)
    return connection
  }

  /// The caller proved an address: its datagrams come from there from now on.
  mutating func receive(_ hello: Hello, from source: Route, at now: Instant) {
    guard !isCaller, !isEnding else { return }
    guard !datagrams.isEmpty else {
      datagram = .called(hello, from: source, at: now)
      return
    }
    _ = datagrams[0].handleHello(hello, from: source, at: now)
  }

  /// A stream cannot be opened; whoever refuses one answers datagrams as quickly, if at all. A
  /// system that did not hear its neighbour's address for seconds gets as long to ask once more.
  mutating func handleStreamFailed(at now: Instant) {
    guard case .awaitingGrant(let deadline) = state, datagram?.isFound != true else { return }
    let grace = max(Self.datagramGrace, timing.handshakeLimit - (deadline - now))
    state = .awaitingGrant(deadline: min(deadline, now.advanced(by: grace)))
  }

  /// Takes over the stream of a connection that turned out to be this one's; what it had read
  /// goes on here, the request of `info` with it, if that is what it brought.
  mutating func adopt(_ other: StreamPath, of info: PeerInfo?, at now: Instant) {
    if stream != nil { loseStream() }
    stream = other
    heard(at: now)
    switch state {
    case .open: say(.grant(version: SessionWire.version, local), by: .stream, at: now)
    case .awaitingRequest: if let info { noteRequest(of: info, at: now) }
    default: break
    }
  }

  /// The stream is gone.
  package mutating func handleLinkEnd(_ end: LinkEnd, at now: Instant) {
    loseStream()
    let reason: DisconnectReason =
      switch end {
      case .ended: .connectionLost
      case .reset: .connectionReset
      case .timedOut: .timedOut
      }
    switch state {
    case .closed: break
    case .closing, .lingering: if datagram?.isOpen != true { state = .closed }
    case .open where datagram?.isAnswered == true:
      // A process that ended takes both links along; a middlebox cuts one alone.
      datagram!.ping()
      proof = Proof(
        packet: datagram!.flow.nextNumber, deadline: now.advanced(by: Self.proofLimit),
        reason: reason)
    case .open: lose(as: reason, at: now)
    case .awaitingGrant where datagram != nil: break
    case .awaitingRequest, .requested, .awaitingGrant:
      finish(reason)
      self.end()
    }
    linkAction = nil
    noteLink()
  }

  /// Forgets the stream; what it carried goes by another link.
  private mutating func loseStream() {
    scratch.outcome.removeAll()
    if !streams.isEmpty { streams[0].abandonAll(lost: &scratch.outcome.lost) }
    streams = []
    settleOutcome(at: heardAt)
  }

  /// No link works: the end, or where the connection may be resumed an interruption.
  mutating func lose(as reason: DisconnectReason, at now: Instant) {
    guard interruptedAt == nil, timing.resumeLimit > .zero else {
      finish(reason)
      return end()
    }
    interruptedAt = now
    proof = nil
    events.append(.interrupted)
    if stream != nil { linkAction = .cut }
    loseStream()
    datagram?.callAgain(at: now)
    if isCaller { events.append(.reconnect) }
  }

  /// A sign of life.
  mutating func heard(at now: Instant) {
    heardAt = now
    guard interruptedAt != nil else { return }
    interruptedAt = nil
    events.append(.resumed)
  }

  /// Tells when messages go another way than before.
  mutating func noteLink() {
    guard isOpen, let link = currentLink, link != lastKind else { return }
    if lastKind != nil { events.append(.linkChanged(link)) }
    lastKind = link
  }
}

// MARK: - The stream
extension Connection {
  /// Takes bytes from the stream, in any pieces.
  package mutating func receive(_ bytes: Span<UInt8>, at now: Instant) {
    guard !isEnding, !streams.isEmpty else { return }
    heard(at: now)
    streams[0].receive(bytes, at: now)
    do throws(FrameError) {
      while !isEnding, !streams.isEmpty, let body = try streams[0].next() {
        receive(body: body, at: now)
      }
    } catch {
      failStream(error, at: now)
    }
    settleMessages(at: now)
  }

  /// The stream that a request showed to be another connection's, with what it had read.
  mutating func takeStream() -> StreamPath? {
    defer { stream = nil }
    return stream
  }

  private mutating func receive(body: [UInt8], at now: Instant) {
    guard let header = try? PacketHeader(of: body.span) else { return violate(at: now) }
    do throws(DecodeError) {
      switch header.type {
      case SessionWire.controlType:
        guard let control = try ControlPacket(try Packet(decoding: body.span)) else {
          return unknownPackets += 1
        }
        receive(control, by: .stream, at: now)
      case SessionWire.carrierType:
        guard !streams.isEmpty, streams[0].isJoined else {
          throw .invalid(what: "message before the grant")
        }
        guard header.action == 0 else { throw .invalid(what: "action of a carrier") }
        try receiveCarrier(body.span.extracting(Packet.headerLength..<body.count), at: now)
      default: unknownPackets += 1
      }
    } catch { violate(at: now) }
  }

  private mutating func receiveCarrier(
    _ bytes: Span<UInt8>, at now: Instant
  ) throws(DecodeError) {
    var isAckEliciting = false
    var reader = FrameReader(bytes)
    scratch.outcome.removeAll()
    while let frame = try reader.next(ranges: &scratch.ranges) {
      if frame.isAckEliciting { isAckEliciting = true }
      switch frame {
      case .message(let message): try channels.receive(message, at: now)
      case .credit(let channel, let limit): channels.handleCredit(channel: channel, limit: limit)
      case .acknowledgement:
        guard
          let largest = scratch.ranges.largest, !streams.isEmpty,
          streams[0].handleAcknowledgement(largest, acknowledged: &scratch.outcome.acknowledged)
        else { throw .invalid(what: "acknowledgement of a carrier that was never sent") }
      case .ping, .padding: break
      }
    }
    settleOutcome(at: now)
    if !streams.isEmpty {
      streams[0].didReceive(bytes: bytes.count, isAckEliciting: isAckEliciting, at: now)
    }
    if datagrams.isEmpty, let roundTrip = pinger.roundTrip.smoothed, now >= nextGrowth {
      channels.growWindows(roundTrip: roundTrip.wholeNanoseconds, at: now)
      nextGrowth = now.advanced(by: roundTrip)
    }
  }
}

// MARK: - Datagrams
extension Connection {
  /// Takes a data packet.
  package mutating func receiveDatagram(_ packet: Span<UInt8>, at now: Instant) {
    guard !isClosed, !datagrams.isEmpty else { return }
    scratch.outcome.removeAll()
    let isTaken = datagrams[0].receive(
      packet, &channels, allowsMessages: isCaller || isOpen, &scratch, at: now)
    settleOutcome(at: now)
    guard isTaken else { return settleMessages(at: now) }
    heard(at: now)
    if let packet = proof?.packet, !datagrams.isEmpty,
      datagrams[0].flow.largestAcknowledged.map({ $0 >= packet }) == true
    {
      proof = nil
    }
    settleMessages(at: now)
    noteLink()
  }

  /// An address of the other side answered a hello, or does not know this side's any more.
  mutating func handleRetry(_ retry: Retry, from source: Route, at now: Instant) {
    let wasOpen = datagram?.isOpen == true
    datagram?.handleRetry(retry, from: source, at: now)
    if !wasOpen { sayRequest(at: now) }
  }

  /// Tells the channels what became of what they sent.
  private mutating func settleOutcome(at now: Instant) {
    for record in scratch.outcome.acknowledged {
      if record.kind == .acknowledgement {
        if !datagrams.isEmpty { datagrams[0].handleAcknowledged(record) }
      } else {
        channels.handleAcknowledged(record, at: now)
      }
    }
    for record in scratch.outcome.lost where record.kind != .acknowledgement {
      channels.handleLost(record, at: now)
    }
  }

  /// The other side does not know the connection any more, or this address has another side.
  mutating func handleGone(at now: Instant) {
    guard !isEnding else { return }
    guard stream?.isJoined != true else { return loseDatagrams(at: now) }
    finish(.connectionReset)
    end()
  }

  /// Forgets the datagrams; what they carried goes by the stream.
  private mutating func loseDatagrams(at now: Instant) {
    scratch.outcome.removeAll()
    if !datagrams.isEmpty { datagrams[0].abandonAll(&scratch.outcome) }
    datagrams = []
    settleOutcome(at: now)
    noteLink()
  }

  private mutating func receiveControlMessages(at now: Instant) {
    while channels.hasSessionMessage, let message = channels.pollControl() {
      do throws(DecodeError) {
        guard let control = try message.get() else {
          unknownPackets += 1
          continue
        }
        if !isEnding { receive(control, by: .datagram, at: now) }
      } catch { violate(at: now) }
    }
  }

  /// Tells of messages that came, and hears what became of those that were sent.
  private mutating func settleMessages(at now: Instant) {
    receiveControlMessages(at: now)
    if isOpen, channels.hasMessages { noteMessages() }
    while let event = channels.pollEvent() { events.append(.channel(event)) }
    sayGoodbyeWhenDrained(at: now)
    endWhenHeard()
  }

  /// The peer knows that this side said goodbye: nothing is left to be done over datagrams.
  private mutating func endWhenHeard() {
    guard case .closing = state, goodbye == nil, streams.isEmpty, channels.isDrained else { return }
    end()
  }

  /// Closes the connection because its stream cannot be read any further. A peer that stops in the
  /// middle of a packet is late; only bytes that are no packet violate the protocol.
  private mutating func failStream(_ error: FrameError, at now: Instant) {
    guard case .bodyTimeout = error else { return violate(at: now) }
    close(Goodbye(.timedOut), as: isOpen ? .timedOut : .handshakeTimeout, at: now)
  }

  mutating func handleLinkTimeouts(at now: Instant) {
    if !isEnding, !streams.isEmpty {
      do throws(FrameError) {
        try streams[0].handleTimeout(at: now)
      } catch { failStream(error, at: now) }
    }
    channels.handleTimeout(at: now)
    guard !datagrams.isEmpty else { return }
    scratch.outcome.removeAll()
    let before = currentLink
    datagrams[0].handleTimeout(&scratch.outcome, at: now)
    if before == .datagram, currentLink == .stream { datagrams[0].abandonAll(&scratch.outcome) }
    settleOutcome(at: now)
    noteLink()
    sayGoodbyeWhenDrained(at: now)
  }
}

// MARK: - What goes out
extension Connection {
  /// Whether `pollStream` or `pollLinkAction` has to be asked, now or when the stream has room.
  package var hasStreamOutput: Bool {
    if linkAction != nil { return true }
    guard !streams.isEmpty else { return false }
    return streams[0].hasControl || streams[0].owesAcknowledgement
      || (currentLink == .stream && channels.hasPending)
  }

  /// Appends to `buffer` the bytes for a stream that holds `queued` bytes already; `false` when
  /// there is nothing for it now.
  package mutating func pollStream(
    queued: Int, into buffer: inout [UInt8], at now: Instant
  ) -> Bool {
    guard !streams.isEmpty else { return false }
    let carries = currentLink == .stream
    let hasMore = streams[0].pollTransmit(
      queued: queued, &channels, carries: carries, &scratch, into: &buffer, at: now)
    sayGoodbyeWhenDrained(at: now)
    if case .closing = state, goodbye == nil, stream?.hasControl == false, linkAction == nil {
      linkAction = .closeAfterFlush
    }
    while let event = channels.pollEvent() { events.append(.channel(event)) }
    return hasMore
  }

  /// Whether anything might leave now, asked after what came; `false` is certain.
  mutating func mayTransmit(at now: Instant) -> Bool {
    guard isOpen, linkAction == nil, streams.isEmpty, !datagrams.isEmpty else { return true }
    return channels.hasPending || datagrams[0].mayTransmit(at: now)
  }

  /// Puts the next datagram into `buffer`, and says where it goes; `nil` when there is none now.
  package mutating func pollDatagram(
    into buffer: inout [UInt8], at now: Instant
  ) -> Route? {
    guard !datagrams.isEmpty else { return nil }
    let carries = currentLink == .datagram
    return datagrams[0].pollTransmit(&channels, carries: carries, &scratch, into: &buffer, at: now)
  }

  /// The commonest event is a flag, where nothing else waits to be told before it.
  private mutating func noteMessages() {
    if events.isEmpty { hasNewMessages = true } else { events.append(.messages) }
  }

  var hasEvents: Bool { hasNewMessages || !events.isEmpty }

  /// The next thing to tell the owner.
  package mutating func pollEvent() -> ConnectionEvent? {
    guard hasNewMessages else { return events.popFirst() }
    hasNewMessages = false
    return .messages
  }

  /// What to do with the stream, told once.
  package mutating func pollLinkAction() -> LinkAction? {
    guard let action = linkAction else { return nil }
    linkAction = nil
    stream = nil
    if case .closing = state, datagram?.isOpen != true { state = .closed }
    endWhenHeard()
    return action
  }
}
