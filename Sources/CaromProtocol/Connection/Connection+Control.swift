import CaromCodec
import CaromCore

// The session's own packets: who asks, who grants, who leaves.
extension Connection {
  /// Takes a control packet that came by a link.
  mutating func receive(_ control: ControlPacket, by kind: LinkKind, at now: Instant) {
    switch (control, state) {
    case (.request(let version, let key, let info), .awaitingRequest):
      receiveRequest(version, key, info, at: now)
    case (.join(let version, let key), .awaitingRequest) where kind == .stream && datagram == nil:
      guard version == SessionWire.version else {
        return close(Goodbye(.versionMismatch), as: .versionMismatch(theirs: version), at: now)
      }
      guard key != .none else { return violate(at: now) }
      self.key = key
      events.append(.joining)
    case (.request, .requested): break  // asking twice is harmless
    case (.request(_, let key, _), .open):
      guard key == self.key else { return violate(at: now) }
      say(.grant(version: SessionWire.version, local), by: kind, at: now)
    case (.grant(let version, let info), .awaitingGrant):
      guard version == SessionWire.version else {
        return close(Goodbye(.versionMismatch), as: .versionMismatch(theirs: version), at: now)
      }
      if kind == .stream { stream?.join() }
      open(info, at: now)
    case (.grant, .open): if kind == .stream { stream?.join() }
    case (.token(let token), .open) where isCaller,
      // A token comes in a datagram, which may overtake a grant that comes on the stream.
      (.token(let token), .awaitingGrant) where kind == .datagram:
      guard let host = datagram?.way?.endpoint else { break }
      events.append(.invited(JoinToken(token, of: host)))
    case (.goodbye(let goodbye), _): receive(goodbye, at: now)
    case (.ping(let sent), .open), (.ping(let sent), .requested):
      // Whoever asks and never reads is not answered without end.
      guard (stream?.waitingBytes ?? 0) < StreamPath.controlLimit else { return }
      let clock = UInt64(bitPattern: now.nanoseconds)
      say(.pong(sent: sent, clock: clock), by: kind, at: now)
    case (.pong(let sent, let clock), .open):
      if pinger.handlePong(sent: sent, clock: clock, at: now) {
        events.append(.measured(pinger.roundTrip))
      }
    case (.ping, _), (.pong, _):
      // Datagrams may overtake the grant.
      if kind == .stream { violate(at: now) }
    default: violate(at: now)
    }
  }

  private mutating func receiveRequest(
    _ version: UInt16, _ key: ConnectionKey, _ info: PeerInfo, at now: Instant
  ) {
    guard version == SessionWire.version else {
      return close(Goodbye(.versionMismatch), as: .versionMismatch(theirs: version), at: now)
    }
    guard self.key == .none || key == self.key else { return violate(at: now) }
    self.key = key
    guard info.application == local.application, info.id != local.id else {
      return close(Goodbye(.wrongApplication), as: .wrongApplication, at: now)
    }
    guard info.applicationVersion == local.applicationVersion else {
      let theirs = info.applicationVersion
      let goodbye = Goodbye(.versionMismatch, version: local.applicationVersion)
      return close(goodbye, as: .versionMismatch(theirs: theirs), at: now)
    }
    noteRequest(of: info, at: now)
  }

  /// Somebody who fits asks for a seat.
  mutating func noteRequest(of info: PeerInfo, at now: Instant) {
    // Whoever waits for an answer owes no sign of life until it has one.
    state = .requested(info, deadline: now.advanced(by: timing.handshakeLimit))
    events.append(.requested(info))
  }

  private mutating func receive(_ goodbye: Goodbye, at now: Instant) {
    guard !isEnding else { return }
    finish(goodbye.reason)
    channels.dropOutgoing()
    if stream != nil { linkAction = .closeAfterFlush }
    stream = nil
    datagram?.acknowledgeNow()
    state =
      datagram?.isOpen == true ? .lingering(deadline: now.advanced(by: timing.closeLimit)) : .closed
  }

  mutating func open(_ info: PeerInfo, at now: Instant) {
    state = .open(info)
    datagram?.resumes = true
    heardAt = now
    events.append(.opened(info))
    say(pinger.begin(at: now), at: now)
    noteLink()
  }

  /// Asks for a seat over datagrams, as soon as they may go; what is lost comes again by itself.
  mutating func sayRequest(at now: Instant) {
    guard !hasAsked, datagram?.isOpen == true, case .awaitingGrant = state else { return }
    hasAsked = true
    say(.request(version: SessionWire.version, key, local), by: .datagram, at: now)
  }

  /// Says it on the link that carries messages now.
  mutating func say(_ control: ControlPacket, at now: Instant) {
    say(control, by: link ?? .stream, at: now)
  }

  mutating func sayOnEveryLink(_ control: ControlPacket, at now: Instant) {
    if stream != nil { say(control, by: .stream, at: now) }
    if datagram?.isOpen == true { say(control, by: .datagram, at: now) }
  }

  mutating func say(_ control: ControlPacket, by kind: LinkKind, at now: Instant) {
    guard kind == .datagram else {
      stream?.append(control)
      if case .grant = control { stream?.join() }
      return
    }
    let options = SendOptions(control.isRepeated ? .unreliable : .reliableOrdered)
    scratch.control.removeAll()
    control.encode(into: &scratch.control)
    let body = scratch.control.bytes
    // Its bounds are the session's own, and far above what it says.
    _ = try? channels.send(body.span, on: SessionWire.controlChannel, options, at: now)
  }
}

extension ControlPacket {
  /// Whether the next of its kind makes up for one that was lost.
  var isRepeated: Bool {
    switch self {
    case .ping, .pong: true
    default: false
    }
  }
}
