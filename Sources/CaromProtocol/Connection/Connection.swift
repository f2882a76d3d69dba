import CaromCodec
import CaromCore

/// The connection to one peer: handshake, messages, pings and goodbye, over a stream, datagrams or
/// both. Messages belong to the connection rather than to a link: when a link fails, the
/// unacknowledged messages are retransmitted on the other link.
///
/// A connection performs no input or output. Its owner calls `receive`, `receiveDatagram`,
/// `handleLinkEnd`, `handleTimeout` or one of the commands (`admit`, `close`, `send`, …), and after
/// each such call polls the connection in this order:
///
/// 1. `pollEvent` until it returns `nil`, and after a `messages` event `pollMessage` until it
///    returns `false`;
/// 2. `pollDatagram` until it returns `nil`, sending each datagram;
/// 3. `pollStream`, again whenever the stream has space for more;
/// 4. `pollLinkAction`;
/// 5. `findTimeout`, for the time at which `handleTimeout` must be called.
///
/// Steps 2 to 4 may produce further events. The page WireFormat describes the layout of the
/// packets.
package struct Connection {
  enum State: Hashable {
    /// The peer has opened a link, but its request has not arrived.
    case awaitingRequest(deadline: Instant)
    /// The peer has requested a seat, but the owner has not answered.
    indirect case requested(PeerInfo, deadline: Instant)
    /// This side has requested a seat, or will request it when a link is open.
    case awaitingGrant(deadline: Instant)
    indirect case open(PeerInfo)
    /// This side has closed the connection. The goodbye follows everything sent before it. Incoming
    /// messages are ignored.
    case closing(deadline: Instant)
    /// The peer's goodbye has arrived on the stream. It is on its way over datagrams too, where the
    /// peer waits for its acknowledgement.
    case acknowledging(deadline: Instant)
    /// The peer's goodbye has arrived. The connection still acknowledges repetitions of the
    /// goodbye.
    case lingering(deadline: Instant)
    case closed

    var isEnding: Bool {
      switch self {
      case .closing, .acknowledging, .lingering, .closed: true
      default: false
      }
    }
  }

  // What every packet needs comes first.
  let local: LocalSide
  var state: State
  #if !arch(wasm32)
    /// Whether this side opened the connection.
    let isInitiator: Bool
  #endif
  /// Whether a `messages` event is due before all other `events`.
  var isMessagesEventDue = false
  var linkAction: LinkAction?
  /// The state of the peer's attempt to prove that it knows the code, while the attempt waits for
  /// the decision of the host's gate; `none` otherwise.
  var attempt = CodeAttempt.none
  /// The link in the last `linkChanged` event or, if there has been none, the link that first
  /// carried messages; nil before that.
  var reportedLink: LinkKind?
  /// Whether `stream` is not nil. Every packet needs to know, and without a stream, no packet
  /// touches the memory in which `stream` lies.
  private(set) var hasStream = false
  /// Whether this side has requested a seat over datagrams.
  var hasSentRequest = false
  /// The liveness check in progress since the stream ended unexpectedly; nil if there is none.
  @Boxed var livenessCheck: LivenessCheck?
  /// The interruption since the last working link failed; nil unless the connection is waiting to
  /// be resumed.
  @Boxed var interruption: Interruption?
  var events = Deque<ConnectionEvent>()
  /// The time at which data from the peer last arrived, or at which the connection was created or
  /// opened, whichever is latest.
  var lastReceived: Instant
  /// The silence limit in nanoseconds. It is precomputed because every packet needs it and
  /// `Duration` arithmetic is slow.
  let silenceLimit: Int64
  var pinger = Pinger()
  var datagram: DatagramPath?
  var channels = ChannelSet()
  /// The connection key. The responder learns it from the first link.
  package internal(set) var key: ConnectionKey
  /// The first message of the stream's handshake, while it waits for the decision about the ticket
  /// in it; nil if there is none.
  var ticketMessage: [UInt8]?
  /// The goodbye to send once the messages before it have been sent or acknowledged; nil if there
  /// is none.
  @Boxed var goodbye: Goodbye?
  /// The goodbye with which this side answers what the peer sends on another link: the same request
  /// again, or a wish to join. Nil until this side ends the connection, or the peer withdraws its
  /// request.
  @Boxed var lateAnswer: Goodbye?
  /// The earliest time for the receive windows to grow again, if the connection has no datagram
  /// path.
  var nextWindowGrowth = Instant.zero

  /// The secrets of the connection apart from those of its links; nil if it is in plaintext.
  var secrets: LinkSecrets?
  /// The stream to the peer; nil if there is none. It is last because a connection over datagrams
  /// may have none, and seldom uses the one that it has. Replaced only by `setStream`.
  var stream: StreamPath?

  /// The number of received packets whose type or action this version does not recognize.
  package internal(set) var unknownPackets = 0

  init(
    local: LocalSide, key: ConnectionKey, isInitiator: Bool, state: State,
    secrets: LinkSecrets? = nil, at now: Instant
  ) {
    precondition(
      state == .closed || (local.security == nil) == (secrets == nil),
      "an encrypted connection needs secrets for the handshakes of its links")
    self.secrets = secrets
    self.local = local
    self.key = key
    #if !arch(wasm32)
      self.isInitiator = isInitiator
    #endif
    self.state = state
    lastReceived = now
    silenceLimit = local.timing.silenceLimit.wholeNanoseconds
  }

  /// The maximum length of a stream frame before the handshake is complete, in bytes. Requests are
  /// far shorter, and thousands of unknown peers must not each occupy a whole message's memory.
  package static let handshakeFrameLimit = 4 << 10
  /// The minimum wait for an answer over datagrams after a stream was refused: four hellos.
  static let datagramGrace = Duration.seconds(1)
  /// The part of `closeLimit` in which the goodbye no longer waits for earlier messages.
  static let goodbyeGrace = Duration.milliseconds(50)
}

// MARK: - Properties
extension Connection {
  /// Replaces the stream.
  mutating func setStream(_ stream: StreamPath?) {
    self.stream = stream
    hasStream = stream != nil
  }

  /// The peer that has requested a seat or to which the connection is open; nil if none.
  package var peer: PeerInfo? {
    switch state {
    case .requested(let info, _), .open(let info): info
    default: nil
    }
  }

  package var isOpen: Bool { if case .open = state { true } else { false } }
  /// Whether the peer has requested a seat and waits for the answer.
  var isRequested: Bool { if case .requested = state { true } else { false } }
  /// Whether the peer's goodbye has arrived, so that there is nothing left to do but to acknowledge
  /// it.
  package var isLingering: Bool {
    switch state {
    case .acknowledging, .lingering: true
    default: false
    }
  }
  /// Whether the peer's goodbye was acknowledged. It may have to be acknowledged again.
  var hasAcknowledgedGoodbye: Bool { if case .lingering = state { true } else { false } }
  package var isClosed: Bool { if case .closed = state { true } else { false } }
  /// Whether the `closed` event was emitted. A goodbye may still have to be sent or acknowledged.
  package var isEnding: Bool { state.isEnding }

  /// The round-trip time and clock offset measured by pings.
  package var roundTrip: RoundTrip { pinger.roundTrip }

  /// Whether the connection begins with a connect token.
  var usesTokens: Bool { local.security?.usesTokens == true }
}

// MARK: - Commands
extension Connection {
  /// Grants the seat that the peer has requested.
  package mutating func admit(at now: Instant) {
    guard case .requested(let info, _) = state else { return }
    sendOnAllLinks(.grant(version: SessionWire.version, local.peer), at: now)
    open(info, at: now)
  }

  /// Closes the connection: sends `goodbye` to the peer and reports `reason` to this side's owner.
  package mutating func close(
    _ goodbye: Goodbye, as reason: DisconnectReason = .closedLocally, at now: Instant
  ) {
    guard !isEnding else { return }
    let goodbye = withoutExposedSecrets(goodbye)
    if isOpen || isRequested { lateAnswer = goodbye }
    channels.dropUnreliable()
    emitClosed(reason)
    guard stream != nil || datagram?.isOpen == true else {
      state = .closed
      return
    }
    state = .closing(deadline: now.advanced(by: local.timing.closeLimit))
    self.goodbye = goodbye
    sendGoodbyeWhenDrained(at: now)
  }

  /// Queues a message. Returns the number that identifies the message in events.
  @discardableResult
  package mutating func send(
    _ bytes: Span<UInt8>, on channel: UInt8, _ options: SendOptions, at now: Instant
  ) throws(SendError) -> UInt64? {
    guard isOpen else { throw .notConnected }
    return try channels.send(bytes, on: channel, options, at: now)
  }

  /// Passes the next application message to `body`. Returns `false` if there is none. Messages of
  /// the channels in `parking` stay in the connection if they need credit.
  package mutating func pollMessage(
    parking: ChannelMask = ChannelMask(), _ body: (_ channel: UInt8, _ bytes: Span<UInt8>) -> Void
  ) -> Bool {
    channels.pollMessage(parking: parking) { channel, _, bytes in body(channel, bytes) }
  }
}

// MARK: - Events
extension Connection {
  var hasEvents: Bool { isMessagesEventDue || !events.isEmpty || !isEnding && channels.hasEvents }

  /// Removes and returns the next event, or nil if there is none.
  package mutating func pollEvent() -> ConnectionEvent? {
    takeMessagesEvent() ? .messages : events.popFirst() ?? pollChannelEvent()
  }

  /// Removes the next event and returns true if it is a `messages` event that precedes all others.
  mutating func takeMessagesEvent() -> Bool {
    guard isMessagesEventDue else { return false }
    isMessagesEventDue = false
    return true
  }

  /// Removes and returns the next event of the channels. No event follows `closed`.
  private mutating func pollChannelEvent() -> ConnectionEvent? {
    isEnding ? nil : channels.pollEvent().map { .channel($0) }
  }

  /// Emits a `messages` event. This event is the most common one, so it is stored as a flag unless
  /// other events precede it.
  private mutating func emitMessages() {
    if events.isEmpty { isMessagesEventDue = true } else { events.append(.messages) }
  }

  /// Emits `closed`, preceded by the events of the channels and, if messages that arrived before
  /// the end are unread, by a `messages` event. End the connection afterwards.
  mutating func emitClosed(_ reason: DisconnectReason) {
    while let event = pollChannelEvent() { events.append(event) }
    if isOpen, channels.hasMessages { events.append(.messages) }
    events.append(.closed(reason))
  }

  /// Handles the control packets and messages that a received packet has added to the channels.
  @inline(__always) mutating func processChannels(at now: Instant) {
    if channels.hasSessionMessage { receiveControlMessages(at: now) }
    if isOpen {
      if channels.hasMessages { emitMessages() }
    } else if isEnding {
      sendGoodbyeWhenDrained(at: now)
      closeWhenGoodbyeAcknowledged()
    }
  }
}

// MARK: - Closing
extension Connection {
  /// Drops both links and closes the connection without sending anything.
  mutating func closeNow() {
    if stream != nil { linkAction = .cut }
    setStream(nil)
    datagram = nil
    state = .closed
  }

  mutating func closeForViolation(at now: Instant) {
    close(Goodbye(.protocolViolation), as: .protocolViolation, at: now)
  }

  /// Sends the goodbye once everything before it has been sent on the stream or, over datagrams,
  /// acknowledged. A message that waits for credit or for acknowledgements has not been sent yet.
  mutating func sendGoodbyeWhenDrained(at now: Instant) {
    guard case .closing = state, goodbye != nil else { return }
    if findLink() == .datagram {
      guard channels.isDrained else { return }
    } else {
      guard !channels.hasUnsent || stream?.isJoined != true else { return }
    }
    sendGoodbye(at: now)
  }

  /// Returns the time from which the goodbye no longer waits for earlier messages if the connection
  /// must end by `deadline`.
  private static func goodbyeTime(before deadline: Instant) -> Instant {
    deadline.advanced(by: .zero - goodbyeGrace)
  }

  private mutating func sendGoodbye(at now: Instant) {
    guard let goodbye else { return }
    self.goodbye = nil
    sendOnAllLinks(.goodbye(goodbye), at: now)
  }

  /// Closes the connection once the peer has acknowledged the goodbye, unless there is still a
  /// stream.
  mutating func closeWhenGoodbyeAcknowledged() {
    guard case .closing = state, goodbye == nil, stream == nil, channels.isDrained else { return }
    closeNow()
  }
}

// MARK: - Time
extension Connection {
  /// Performs the actions that are due at `now`. Call at the time that `findTimeout` returns.
  package mutating func handleTimeout(at now: Instant) {
    handleLinkTimeouts(at: now)
    switch state {
    case .awaitingRequest(let deadline), .awaitingGrant(let deadline),
      .requested(_, let deadline):
      if now >= deadline { return close(Goodbye(.timedOut), as: .handshakeTimeout, at: now) }
      handleLivenessTimeout(at: now)
    case .open: handleOpenTimeout(at: now)
    case .closing(let deadline) where goodbye != nil:
      // Earlier messages were not acknowledged in time, but the peer should still learn of the end.
      if now >= Self.goodbyeTime(before: deadline) { sendGoodbye(at: now) }
    case .acknowledging(let deadline): if now >= deadline { linger(at: now) }
    case .closing(let deadline), .lingering(let deadline):
      if now >= deadline { closeNow() }
    case .closed: break
    }
  }

  private mutating func handleLinkTimeouts(at now: Instant) {
    if hasStream, !isEnding {
      do throws(FrameError) {
        try stream?.handleTimeout(at: now)
      } catch { closeForStreamError(error, at: now) }
    }
    channels.handleTimeout(at: now)
    guard datagram != nil else { return }
    var outcome = DatagramPath.Outcome()
    let before = findLink()
    datagram?.handleTimeout(&outcome, at: now)
    if before == .datagram, findLink() == .stream { datagram?.abandonAll(&outcome) }
    applyOutcome(outcome, at: now)
    reportLinkChange()
    sendGoodbyeWhenDrained(at: now)
  }

  private mutating func handleOpenTimeout(at now: Instant) {
    if handleLivenessTimeout(at: now) { return }
    if now >= silenceDeadline { return handleLinksLost(as: .timedOut, at: now) }
    guard interruption == nil else { return requestReconnect(at: now) }
    if let ping = pinger.handleTimeout(local.timing, at: now) { send(ping, at: now) }
  }

  /// Returns the next time at which `handleTimeout` must be called, or `nil` if no timer is armed.
  /// The method is mutating so that the connection is accessed in place rather than copied.
  package mutating func findTimeout() -> Instant? {
    var next = Instant.distantFuture
    switch state {
    case .awaitingRequest(let deadline), .awaitingGrant(let deadline),
      .requested(_, let deadline):
      next = min(deadline, livenessCheck?.deadline ?? deadline)
    case .closing(let deadline):
      next = goodbye == nil ? deadline : Self.goodbyeTime(before: deadline)
    case .acknowledging(let deadline), .lingering(let deadline): next = deadline
    case .open:
      next = min(silenceDeadline, interruption?.nextReconnect ?? pinger.nextTimeout ?? next)
      if let deadline = channels.nextTimeout { next = min(next, deadline) }
      if let deadline = livenessCheck?.deadline { next = min(next, deadline) }
    case .closed: return nil
    }
    assert(hasStream == (stream != nil), "the stream was not replaced by setStream")
    // Once the connection is ending, incomplete incoming frames no longer matter.
    if hasStream, !isEnding, let deadline = stream?.nextTimeout {
      next = min(next, deadline)
    }
    let hasPending = channels.hasPending && findLink() == .datagram
    let hasUrgent = channels.hasUrgent
    if let deadline = datagram?.findTimeout(hasPending: hasPending, hasUrgent: hasUrgent) {
      next = min(next, deadline)
    }
    return next == .distantFuture ? nil : next
  }

  /// The time at which the peer has been silent for too long or, during an interruption, at which
  /// the connection can no longer be resumed.
  @inline(__always) private var silenceDeadline: Instant {
    if let interruption { return interruption.start.advanced(by: local.timing.resumeLimit) }
    return lastReceived.advanced(byNanoseconds: silenceLimit)
  }
}
