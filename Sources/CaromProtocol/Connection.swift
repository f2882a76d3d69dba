import CaromCodec
import CaromCore

/// One peer relation over one stream link: handshake, messages, pings, goodbye.
///
/// A polled machine: bytes, the link's end, time and intents go in; `pollTransmit`, `pollEvent`,
/// `pollLinkAction` and `nextTimeout` come out. The layout of its packets is the WireFormat page.
package struct Connection: Sendable {
  private enum State: Hashable {
    /// The other side called; its request has not come yet.
    case awaitingRequest(deadline: Instant)
    /// It asked for a seat; the owner has not answered yet.
    case requested(PeerInfo, deadline: Instant)
    /// This side asked for a seat.
    case awaitingGrant(deadline: Instant)
    case open(PeerInfo)
    /// The goodbye leaves; nothing is read any more.
    case closing(deadline: Instant)
    case closed
  }

  private let local: PeerInfo
  private let timing: SessionTiming
  private var state: State
  private var decoder = FrameDecoder()
  private var outbox = Outbox()
  private var events = EventQueue<ConnectionEvent>()
  private var linkAction: LinkAction?
  private var pinger: Pinger
  private var heardAt: Instant
  /// `timing.silenceLimit` in nanoseconds: it is added at each packet, and a `Duration` takes long.
  private let silenceLimit: Int64
  private var owesWritable = false

  /// How many packets of an unknown type or action came.
  package private(set) var unknownPackets = 0

  /// A connection on a link that the other side opened: it waits for the request.
  package static func accepting(
    as local: PeerInfo, timing: SessionTiming, at now: Instant
  ) -> Connection {
    let deadline = now.advanced(by: timing.handshakeLimit)
    var connection = Connection(
      local: local, timing: timing, state: .awaitingRequest(deadline: deadline), at: now)
    connection.decoder.limit = handshakeFrameLimit
    return connection
  }

  /// A connection on a link that this side opened: it asks for a seat at once.
  package static func requesting(
    as local: PeerInfo, timing: SessionTiming, at now: Instant
  ) -> Connection {
    let deadline = now.advanced(by: timing.handshakeLimit)
    var connection = Connection(
      local: local, timing: timing, state: .awaitingGrant(deadline: deadline), at: now)
    connection.outbox.append(
      ControlPacket.request(version: SessionWire.version, local).packet)
    return connection
  }

  private init(local: PeerInfo, timing: SessionTiming, state: State, at now: Instant) {
    self.local = local
    self.timing = timing
    self.state = state
    heardAt = now
    silenceLimit = timing.silenceLimit.wholeNanoseconds
    pinger = Pinger(timing: timing)
  }

  /// The peer, once it has said who it is.
  package var peer: PeerInfo? {
    switch state {
    case .requested(let info, _), .open(let info): info
    default: nil
    }
  }

  package var isOpen: Bool { if case .open = state { true } else { false } }
  package var isClosed: Bool { if case .closed = state { true } else { false } }

  /// Whether it has told its end already, though a goodbye may still be leaving.
  package var isEnding: Bool {
    switch state {
    case .closing, .closed: true
    default: false
    }
  }

  /// What is known of the way to the peer.
  package var roundTrip: RoundTrip { pinger.roundTrip }

  /// Bytes of reliable messages that have not been handed to the link.
  package var queuedBytes: Int { outbox.reliableCount }
}

// MARK: - Intents
extension Connection {
  /// Grants the seat that was asked for.
  package mutating func admit(at now: Instant) {
    guard case .requested(let info, _) = state else { return }
    outbox.append(ControlPacket.grant(version: SessionWire.version, local).packet)
    open(info, at: now)
  }

  /// Says goodbye with a reason for the other side, and ends here with one for this side.
  package mutating func close(
    _ goodbye: Goodbye, as reason: DisconnectReason = .closedHere, at now: Instant
  ) {
    guard !isEnding else { return }
    outbox.dropLatest()
    outbox.append(ControlPacket.goodbye(goodbye).packet)
    finish(reason)
    state = .closing(deadline: now.advanced(by: timing.closeLimit))
  }

  /// Ends at once, without a goodbye.
  package mutating func abandon() {
    guard !isEnding else { return }
    finish(.closedHere)
    linkAction = .cut
    state = .closed
  }

  /// Queues a message that has to arrive, in the order of sending.
  package mutating func send(_ bytes: Span<UInt8>, on channel: UInt16) throws(SendError) {
    try check(bytes.count)
    guard outbox.reliableCount + bytes.count <= Outbox.reliableLimit else {
      owesWritable = true
      throw .queueFull(queued: outbox.reliableCount)
    }
    outbox.append(type: SessionWire.messageType, action: channel, payload: bytes)
  }

  /// Offers the newest message of a channel; one that still waits on it is replaced.
  package mutating func post(_ bytes: Span<UInt8>, on channel: UInt16) throws(SendError) {
    try check(bytes.count)
    outbox.replace(bytes, on: channel)
  }

  private func check(_ size: Int) throws(SendError) {
    guard isOpen else { throw .notConnected }
    guard size <= Self.maximumMessageLength else {
      throw .tooLarge(size: size, limit: Self.maximumMessageLength)
    }
  }

  /// The longest message: the frame limit less the packet's own four bytes.
  package static let maximumMessageLength = FrameDecoder.defaultLimit - 4

  /// The longest frame of a link that has no seat yet: requests are far shorter, and thousands of
  /// strangers must not have a whole message's room each.
  package static let handshakeFrameLimit = 4 << 10
}

// MARK: - What comes in
extension Connection {
  /// Takes bytes from the link, in any pieces.
  package mutating func receive(_ bytes: Span<UInt8>, at now: Instant) {
    guard !isEnding else { return }
    heardAt = now
    decoder.receive(bytes, at: now)
    do throws(FrameError) {
      while !isEnding, var body = try decoder.next() { receive(body: &body, at: now) }
    } catch {
      violate(at: now)
    }
  }

  /// The link is gone.
  package mutating func handleLinkEnd(_ end: LinkEnd, at now: Instant) {
    if !isEnding {
      switch end {
      case .ended: finish(.connectionLost)
      case .reset: finish(.connectionReset)
      case .timedOut: finish(.timedOut)
      }
    }
    linkAction = .cut
    state = .closed
  }

  /// Time has come to `nextTimeout`.
  package mutating func handleTimeout(at now: Instant) {
    switch state {
    case .awaitingRequest(let deadline), .awaitingGrant(let deadline),
      .requested(_, let deadline):
      if now >= deadline { close(Goodbye(.timedOut), as: .handshakeTimeout, at: now) }
    case .open:
      handleOpenTimeout(at: now)
    case .closing(let deadline):
      guard now >= deadline else { return }
      linkAction = .cut
      state = .closed
    case .closed: break
    }
  }

  private mutating func handleOpenTimeout(at now: Instant) {
    if now >= heardAt.advanced(byNanoseconds: silenceLimit) {
      finish(.timedOut)
      linkAction = .cut
      state = .closed
      return
    }
    do throws(FrameError) { try decoder.handleTimeout(at: now) } catch { return violate(at: now) }
    if let ping = pinger.handleTimeout(at: now) { outbox.append(ping.packet) }
  }

  /// Takes a packet; the array of a message's packet becomes the message, without a copy.
  private mutating func receive(body: inout [UInt8], at now: Instant) {
    guard let header = try? PacketHeader(of: body.span) else { return violate(at: now) }
    switch header.type {
    case SessionWire.controlType:
      do throws(DecodeError) {
        let packet = try Packet(decoding: body.span)
        guard let control = try ControlPacket(packet) else { return unknownPackets += 1 }
        receive(control, at: now)
      } catch { violate(at: now) }
    case SessionWire.messageType:
      guard isOpen else { return violate(at: now) }
      body.removeFirst(Packet.headerLength)
      events.append(.message(channel: header.action, bytes: body))
    default: unknownPackets += 1
    }
  }

  private mutating func receive(_ control: ControlPacket, at now: Instant) {
    switch (control, state) {
    case (.request(let version, let info), .awaitingRequest):
      receiveRequest(version, info, at: now)
    case (.request, .requested), (.request, .open): break  // asking twice is harmless
    case (.grant(let version, let info), .awaitingGrant):
      guard version == SessionWire.version else {
        return close(Goodbye(.versionMismatch), as: .versionMismatch(theirs: version), at: now)
      }
      open(info, at: now)
    case (.grant, .open): break
    case (.goodbye(let goodbye), _):
      finish(goodbye.reason)
      linkAction = .closeAfterFlush
      state = .closing(deadline: now.advanced(by: timing.closeLimit))
    case (.ping(let sent), .open), (.ping(let sent), .requested):
      // Whoever asks and never reads is not answered without end.
      guard outbox.reliableCount < Outbox.reliableLimit else { return }
      let clock = UInt64(bitPattern: now.nanoseconds)
      outbox.append(ControlPacket.pong(sent: sent, clock: clock).packet)
    case (.pong(let sent, let clock), .open):
      if pinger.handlePong(sent: sent, clock: clock, at: now) {
        events.append(.measured(pinger.roundTrip))
      }
    default: violate(at: now)
    }
  }

  private mutating func receiveRequest(_ version: UInt16, _ info: PeerInfo, at now: Instant) {
    guard version == SessionWire.version else {
      return close(Goodbye(.versionMismatch), as: .versionMismatch(theirs: version), at: now)
    }
    guard info.application == local.application, info.id != local.id else {
      return close(Goodbye(.wrongApplication), as: .wrongApplication, at: now)
    }
    guard info.applicationVersion == local.applicationVersion else {
      let theirs = info.applicationVersion
      let goodbye = Goodbye(.versionMismatch, version: local.applicationVersion)
      return close(goodbye, as: .versionMismatch(theirs: theirs), at: now)
    }
    // Whoever waits for an answer owes no sign of life until it has one.
    state = .requested(info, deadline: now.advanced(by: timing.handshakeLimit))
    events.append(.requested(info))
  }

  private mutating func open(_ info: PeerInfo, at now: Instant) {
    state = .open(info)
    decoder.limit = FrameDecoder.defaultLimit
    heardAt = now
    events.append(.opened(info))
    outbox.append(pinger.begin(at: now).packet)
  }

  private mutating func violate(at now: Instant) {
    close(Goodbye(.protocolViolation), as: .protocolViolation, at: now)
  }

  private mutating func finish(_ reason: DisconnectReason) { events.append(.closed(reason)) }
}

// MARK: - What goes out
extension Connection {
  /// Whether `pollTransmit` or `pollLinkAction` has to be asked, now or when the link has room.
  package var hasOutput: Bool {
    if case .closing = state { return true }
    return linkAction != nil || (!isClosed && !outbox.isEmpty)
  }

  /// Appends to `buffer` the bytes for a link that holds `queued` bytes already; `false` when
  /// there is nothing for it now.
  package mutating func pollTransmit(queued: Int, into buffer: inout [UInt8]) -> Bool {
    guard !isClosed else { return false }
    let hasMore = outbox.take(queued: queued, into: &buffer)
    if owesWritable, isOpen, outbox.reliableCount < Outbox.reliableLimit / 2 {
      owesWritable = false
      events.append(.writable)
    }
    if case .closing = state, outbox.isEmpty, linkAction == nil { linkAction = .closeAfterFlush }
    return hasMore
  }

  /// The next thing to tell the owner.
  package mutating func pollEvent() -> ConnectionEvent? {
    events.popFirst()
  }

  /// What to do with the link, told once.
  package mutating func pollLinkAction() -> LinkAction? {
    defer { linkAction = nil }
    return linkAction
  }

  /// When `handleTimeout` wants to be called.
  package var nextTimeout: Instant? {
    switch state {
    case .awaitingRequest(let deadline), .awaitingGrant(let deadline),
      .requested(_, let deadline), .closing(let deadline):
      deadline
    case .open:
      earliest(
        earliest(heardAt.advanced(byNanoseconds: silenceLimit), decoder.nextTimeout),
        pinger.nextTimeout)
    case .closed: nil
    }
  }
}
