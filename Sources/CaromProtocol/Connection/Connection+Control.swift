import CaromCodec
import CaromCore

// The session's control packets: requests, grants, pings and goodbyes.
extension Connection {
  /// Handles a control packet that arrived on a link.
  mutating func receive(_ control: ControlPacket, on kind: LinkKind, at now: Instant) {
    switch (control, state) {
    case (.handshake(let version, let message), .awaitingRequest) where kind == .stream,
      (.handshake(let version, let message), .awaitingGrant) where kind == .stream,
      (.handshake(let version, let message), .open) where kind == .stream && isInitiator:
      receiveHandshake(version, message, at: now)
    case (.request(let version, let key, let info), .awaitingRequest) where !isInitiator:
      receiveRequest(version, key, info, at: now)
    case (.join(let version, let key), .awaitingRequest)
    where !isInitiator && kind == .stream && datagram == nil:
      receiveJoin(version, key, at: now)
    case (.request, .requested) where !isInitiator: break  // A repeated request is harmless.
    case (.request(_, let key, _), .open) where !isInitiator:
      guard key == self.key else { return closeForViolation(at: now) }
      send(.grant(version: SessionWire.version, local.peer), on: kind, at: now)
    case (.grant(let version, let info), .awaitingGrant):
      guard version == SessionWire.version else { return closeForVersion(version, at: now) }
      guard isProven(info) else { return closeForIdentity(at: now) }
      guard !closeIfUntrusted(named: info.name, at: now) else { return }
      if kind == .stream { stream?.join() }
      open(info, at: now)
    case (.grant, .open) where isInitiator: if kind == .stream { stream?.join() }
    case (.token(let token), .open) where isInitiator,
      // A token arrives in a datagram, which may overtake a grant on the stream.
      (.token(let token), .awaitingGrant) where kind == .datagram:
      guard let host = datagram?.route?.endpoint else { break }
      events.append(.invited(JoinToken(token, of: host)))
    case (.refusalTag(let tag), .open) where isInitiator,
      (.refusalTag(let tag), .awaitingGrant):
      secrets?.refusalTag = tag
    case (.keyChange, _) where kind == .stream:
      if stream?.changeReceivingKey() != true { closeForViolation(at: now) }
    case (.goodbye, .acknowledging) where kind == .datagram: linger(at: now)
    case (.goodbye(let goodbye), _): receive(goodbye, on: kind, at: now)
    case (.ping(let sent), .open):
      // A peer that sends pings but never reads must not fill the queue with pongs.
      guard (stream?.controlBytes ?? 0) < StreamPath.controlLimit else { return }
      let clock = UInt64(bitPattern: now.nanoseconds)
      send(.pong(sent: sent, clock: clock), on: kind, at: now)
      if !isInitiator { pinger.rest(local.timing, at: now) }
    case (.pong(let sent, let clock), .open):
      if pinger.handlePong(sent: sent, clock: clock, at: now) {
        events.append(.measured(pinger.roundTrip))
      }
    case (.ping, _), (.pong, _):
      // Over datagrams a ping may overtake the grant; on a stream it cannot.
      if kind == .stream { closeForViolation(at: now) }
    default: closeForViolation(at: now)
    }
  }

  mutating func closeForVersion(_ theirs: UInt16, at now: Instant) {
    close(Goodbye(.versionMismatch), as: .versionMismatch(theirs: theirs), at: now)
  }

  /// Handles a join packet: the stream on which it arrived belongs to a different connection, which
  /// `Host` finds by `key`.
  private mutating func receiveJoin(_ version: UInt16, _ key: ConnectionKey, at now: Instant) {
    guard version == SessionWire.version else { return closeForVersion(version, at: now) }
    guard key != .none, mayHave(key) else { return closeForViolation(at: now) }
    self.key = key
    events.append(.joining)
  }

  private mutating func receiveRequest(
    _ version: UInt16, _ key: ConnectionKey, _ info: PeerInfo, at now: Instant
  ) {
    guard version == SessionWire.version else { return closeForVersion(version, at: now) }
    guard self.key == .none || key == self.key, mayHave(key) else {
      return closeForViolation(at: now)
    }
    self.key = key
    var info = info
    if local.derivesIDs { info.id = Self.derivedID(of: info.id) }
    guard isProven(info) else { return closeForIdentity(at: now) }
    guard !closeIfUntrusted(named: info.name, at: now) else { return }
    info.backendData = backendData
    guard info.application == local.peer.application, info.id != local.peer.id else {
      return close(Goodbye(.wrongApplication), as: .wrongApplication, at: now)
    }
    guard info.applicationVersion == local.peer.applicationVersion else {
      let theirs = info.applicationVersion
      let goodbye = Goodbye(.versionMismatch, version: local.peer.applicationVersion)
      return close(goodbye, as: .versionMismatch(theirs: theirs), at: now)
    }
    if local.requiresCode {
      // A peer that shows no code has not guessed.
      guard let isRight = stream?.isCodeRight else {
        return close(Goodbye(.wrongCode), as: .wrongCode, at: now)
      }
      recordAttempt(isRight: isRight)
    }
    guard attempt != .wrong else { return }
    handleRequest(of: info, at: now)
  }

  /// Returns whether the peer's connection may have `key`. With a connect token, it is the key for
  /// which the ticket was used; otherwise one ticket could begin many connections.
  private func mayHave(_ key: ConnectionKey) -> Bool {
    secrets?.ticket.map { $0.owner == key } ?? true
  }

  /// Returns whether the peer has proven that the id in `info` is its own. Always returns true in
  /// plaintext, where a peer cannot prove its id.
  private func isProven(_ info: PeerInfo) -> Bool {
    local.security == nil || info.id == provenPeer
  }

  /// Returns the id of a peer that has sent its secret; see `LocalSide.derivesIDs`.
  private static func derivedID(of secret: PeerID) -> PeerID {
    #if canImport(CaromCrypto)
      PeerID(ofSecret: secret)
    #else
      secret
    #endif
  }

  /// The data of the backend in the peer's connect token; empty if there is none.
  private var backendData: [UInt8] {
    #if canImport(CaromCrypto)
      secrets?.ticket?.ticket.data ?? []
    #else
      []
    #endif
  }

  private mutating func closeForIdentity(at now: Instant) {
    close(Goodbye(.identityMismatch), as: .identityMismatch, at: now)
  }

  /// Handles the request of a peer that has this side's application and version: asks the owner to
  /// admit the peer.
  mutating func handleRequest(of info: PeerInfo, at now: Instant) {
    // While the peer waits for the answer it may stay silent, so only the handshake limit applies.
    state = .requested(info, deadline: now.advanced(by: local.timing.handshakeLimit))
    events.append(.requested(info))
  }

  private mutating func receive(_ goodbye: Goodbye, on kind: LinkKind, at now: Instant) {
    guard !isEnding else { return }
    guard goodbye.code != .moved || isInitiator else { return closeForViolation(at: now) }
    if isRequested { lateAnswer = Goodbye(.forgotten) }
    channels.dropOutgoing()
    emitClosed(goodbye.reason)
    if stream != nil { linkAction = .closeAfterFlush }
    setStream(nil)
    linger(at: now)
    guard kind == .stream, let datagram, isLingering else { return }
    // It may be lost once.
    let patience = 2 * datagram.flow.roundTrip.probeTimeout
    let limit = now.advanced(by: local.timing.closeLimit)
    state = .acknowledging(deadline: min(now.advanced(byNanoseconds: patience), limit))
  }

  /// Acknowledges the peer's goodbye over datagrams, or closes the connection if it has no datagram
  /// path.
  mutating func linger(at now: Instant) {
    datagram?.acknowledgeNow()
    state =
      datagram?.isOpen == true
      ? .lingering(deadline: now.advanced(by: local.timing.closeLimit)) : .closed
  }

  /// Enters the open state and starts pinging.
  mutating func open(_ info: PeerInfo, at now: Instant) {
    state = .open(info)
    datagram?.resumes = true
    lastReceived = now
    events.append(.opened(info))
    send(pinger.makePing(local.timing, at: now), at: now)
    reportLinkChange()
    continueHeldStream(at: now)
  }

  /// Requests a seat over datagrams once the path is open. The request is a reliable message: it is
  /// queued once, and retransmitted if its packet is lost.
  mutating func sendRequestIfNeeded(at now: Instant) {
    guard !hasSentRequest, datagram?.isOpen == true, case .awaitingGrant = state else { return }
    hasSentRequest = true
    send(.request(version: SessionWire.version, key, local.peer), on: .datagram, at: now)
  }

  /// Sends a control packet on the link that currently carries messages.
  mutating func send(_ control: ControlPacket, at now: Instant) {
    send(control, on: findLink() ?? .stream, at: now)
  }

  mutating func sendOnAllLinks(_ control: ControlPacket, at now: Instant) {
    if stream != nil { send(control, on: .stream, at: now) }
    if datagram?.isOpen == true { send(control, on: .datagram, at: now) }
  }

  mutating func send(_ control: ControlPacket, on kind: LinkKind, at now: Instant) {
    guard kind == .datagram else {
      stream?.append(control)
      if case .grant = control { stream?.join() }
      return
    }
    let options = SendOptions(control.isRepeated ? .unreliable : .reliableOrdered)
    control.withMessage { bytes in
      // This cannot fail: the session channel's own queue space far exceeds all control packets.
      _ = try? channels.send(bytes, on: SessionWire.controlChannel, options, at: now)
    }
  }

  /// Handles the control packets that arrived in datagrams, as messages of the session's own
  /// channel.
  mutating func receiveControlMessages(at now: Instant) {
    while channels.hasSessionMessage, let message = channels.pollControl() {
      do throws(DecodeError) {
        guard let control = try message.get() else {
          unknownPackets += 1
          continue
        }
        if !isEnding { receive(control, on: .datagram, at: now) }
      } catch { closeForViolation(at: now) }
    }
  }
}

extension ControlPacket {
  /// Whether packets of this kind are sent so often that a lost one need not be retransmitted.
  var isRepeated: Bool {
    switch self {
    case .ping, .pong: true
    default: false
    }
  }
}
