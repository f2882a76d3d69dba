import CaromCore

// The choice of the link that carries messages, and what happens when links fail. Datagrams are
// preferred as soon as the peer has answered on them; while they go unanswered, the stream is used.
extension Connection {
  /// A check of whether the peer is still alive after its stream has ended. The peer must
  /// acknowledge `packet`, which is sent after the end of the stream, before `deadline`. The
  /// acknowledgement of an earlier packet proves nothing, because it may have been in flight when
  /// the stream ended.
  struct LivenessCheck: Sendable {
    let packet: UInt64
    let deadline: Instant
    /// The reason to report if the check fails.
    let reason: DisconnectReason
  }

  /// The time limit for the acknowledgement that a liveness check requires.
  static let livenessLimit = Duration.seconds(1)

  /// An interruption of the connection: it has no working link, and waits to be resumed.
  struct Interruption: Sendable {
    /// The time at which the last working link failed.
    let start: Instant
    /// The time of the next `reconnect` event.
    var nextReconnect: Instant
    /// The delay between the next two `reconnect` events.
    var reconnectDelay = firstReconnectDelay
  }

  /// The delay between the first two `reconnect` events of an interruption. The delay doubles after
  /// each event.
  static let firstReconnectDelay = Duration.seconds(1)
  /// The maximum delay between two `reconnect` events.
  static let longestReconnectDelay = Duration.seconds(8)

  /// Returns the link that carries messages now, or `nil` if no link can. A WebSocket is a stream
  /// here, and a data channel datagrams, because the machine treats both alike. The method is
  /// mutating so that the connection is accessed in place rather than copied.
  mutating func findLink() -> LinkKind? {
    let isJoined = hasStream && stream?.isJoined == true
    if datagram?.carriesMessages(besidesStream: isJoined) == true { return .datagram }
    return isJoined ? .stream : nil
  }

  /// The link that carries messages now; `nil` if no link can.
  package var link: LinkKind? {
    var copy = self
    return copy.findReportedLink()
  }

  /// Returns the link that carries messages now, distinguishing a WebSocket from a TCP stream, and
  /// a data channel from UDP.
  private mutating func findReportedLink() -> LinkKind? {
    switch findLink() {
    case .stream where stream?.isWebSocket == true: .webSocket
    case .datagram where datagram?.findRoute()?.isDataChannel == true: .dataChannel
    case let link: link
    }
  }

  /// Emits `linkChanged` if the link that carries messages is not the one last reported.
  mutating func reportLinkChange() {
    guard isOpen, let link = findReportedLink(), link != reportedLink else { return }
    if reportedLink != nil { events.append(.linkChanged(link)) }
    reportedLink = link
  }

  /// Records that data from the peer has arrived. If the connection was interrupted, it is resumed.
  mutating func recordSignOfLife(at now: Instant) {
    lastReceived = now
    guard $interruption, !isEnding else { return }
    interruption = nil
    events.append(.resumed)
  }

  /// Ends the liveness check if the peer has acknowledged the packet of the check or a later one.
  mutating func updateLivenessCheck() {
    guard let livenessCheck, let largest = datagram?.flow.largestAcknowledged,
      largest >= livenessCheck.packet
    else { return }
    self.livenessCheck = nil
  }

  /// Handles the end of the stream.
  package mutating func handleLinkEnd(_ end: LinkEnd, at now: Instant) {
    dropStream()
    let reason: DisconnectReason =
      switch end {
      case .ended: .connectionLost
      case .reset: .connectionReset
      case .timedOut: .timedOut
      }
    switch state {
    case .closed: break
    case .closing, .acknowledging, .lingering: if datagram?.isOpen != true { state = .closed }
    case .open where interruption != nil: break  // The interruption has a time limit of its own.
    case .open, .requested:
      // If the peer's process ended, both links are dead; a middlebox may cut only the stream.
      if datagram?.isResponsive == true, let next = datagram?.flow.nextNumber {
        datagram?.ping()
        livenessCheck = LivenessCheck(
          packet: next, deadline: now.advanced(by: Self.livenessLimit),
          reason: reason)
      } else {
        handleLinksLost(as: reason, at: now)
      }
    // The handshake, which has a time limit of its own, continues over datagrams.
    case .awaitingRequest where datagram != nil, .awaitingGrant where datagram != nil: break
    case .awaitingRequest, .awaitingGrant:
      emitClosed(reason)
      closeNow()
    }
    linkAction = nil
    reportLinkChange()
  }

  /// Handles the deadline of the liveness check. Returns whether the check has failed.
  @discardableResult
  mutating func handleLivenessTimeout(at now: Instant) -> Bool {
    guard let livenessCheck, now >= livenessCheck.deadline else { return false }
    handleLinksLost(as: livenessCheck.reason, at: now)
    return true
  }

  /// Handles the loss of the last working link: interrupts the connection if it was open and may be
  /// resumed, and closes it with `reason` otherwise.
  mutating func handleLinksLost(as reason: DisconnectReason, at now: Instant) {
    guard isOpen, interruption == nil, local.timing.resumeLimit > .zero else {
      emitClosed(reason)
      return closeNow()
    }
    interruption = Interruption(start: now, nextReconnect: now)
    livenessCheck = nil
    events.append(.interrupted)
    if stream != nil { linkAction = .cut }
    dropStream()
    datagram?.reconnect(at: now)
    requestReconnect(at: now)
  }

  /// Emits `reconnect` if the event is due. During an interruption, the initiator repeats the event
  /// until it has a new stream.
  mutating func requestReconnect(at now: Instant) {
    guard var interruption, now >= interruption.nextReconnect else { return }
    if isInitiator, stream == nil { events.append(.reconnect) }
    interruption.nextReconnect = now.advanced(by: interruption.reconnectDelay)
    interruption.reconnectDelay = min(
      interruption.reconnectDelay * 2, Self.longestReconnectDelay)
    self.interruption = interruption
  }

  /// Handles a refusal: the peer has no such connection, or does not accept it. Continues on the
  /// stream, or ends the connection if it has no usable stream. A stream on which a seat has been
  /// requested is usable, because the answer to the request, even a negative one, may still arrive
  /// on it. A refusal for a wrong join code, too many attempts or a connect token always ends a
  /// connection that is not open yet.
  ///
  /// Anybody can send a refusal, so an open encrypted connection ignores one that does not carry
  /// the host's tag.
  mutating func handleRefusal(_ refusal: Refusal, at now: Instant) {
    guard !isEnding else { return }
    if local.security != nil, isOpen {
      guard let tag = secrets?.refusalTag, refusal.tag == tag else { return }
    }
    let code = Goodbye.Code(rawValue: refusal.reason)
    // The answer on the stream would be the same.
    let isFinal = !isOpen && code?.concernsEveryLink == true
    if let stream, !isFinal {
      if stream.isJoined { return dropDatagrams(at: now) }
      if case .awaitingGrant = state { return dropDatagrams(at: now) }
    }
    // A refusal does not contain the peer's version.
    emitClosed(code.map { Goodbye($0, version: 0).reason } ?? .connectionReset)
    closeNow()
  }

  /// Drops the stream. Messages that were not acknowledged on it are sent on another link.
  mutating func dropStream() {
    var outcome = DatagramPath.Outcome()
    stream?.abandonAll(lost: &outcome.lost)
    setStream(nil)
    applyOutcome(outcome, at: lastReceived)
  }

  /// Drops the datagram path. Messages that were not acknowledged on it are sent on the stream.
  mutating func dropDatagrams(at now: Instant) {
    var outcome = DatagramPath.Outcome()
    datagram?.abandonAll(&outcome)
    datagram = nil
    applyOutcome(outcome, at: now)
    reportLinkChange()
    continueHeldStream(at: now)
  }

  /// Stops using datagrams because the link that carried them has ended. Messages that were not
  /// acknowledged on it are sent on the stream. The path keeps its epoch and its packet numbers,
  /// which the peer remembers, for the next call of `connect(to:)`. Without a stream, the
  /// connection is interrupted.
  mutating func suspendDatagrams(at now: Instant) {
    guard datagram != nil else { return }
    var outcome = DatagramPath.Outcome()
    datagram?.abandonAll(&outcome)
    datagram?.suspend(at: now)
    applyOutcome(outcome, at: now)
    if stream == nil {
      switch state {
      case .open where interruption == nil: handleLinksLost(as: .connectionLost, at: now)
      case .closing, .acknowledging, .lingering: state = .closed
      default: break
      }
    }
    reportLinkChange()
    sendGoodbyeWhenDrained(at: now)
  }

  /// Tells the channels which of their frames have been acknowledged or lost on a path.
  mutating func applyOutcome(_ outcome: borrowing DatagramPath.Outcome, at now: Instant) {
    for record in outcome.acknowledged { channels.handleAcknowledged(record, at: now) }
    for record in outcome.lost { channels.handleLost(record, at: now) }
  }
}
