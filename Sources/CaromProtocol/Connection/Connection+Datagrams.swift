import CaromCore

// The connection over datagrams.
extension Connection {
  /// Connects to the peer over datagrams, at the first of `routes` that answers. If the host at one
  /// of the routes has issued `token`, sends the request to that host immediately.
  package mutating func connect(
    to routes: [Route], token: JoinToken? = nil, at now: Instant
  ) {
    guard !isEnding, isInitiator, !routes.isEmpty else { return }
    if datagram != nil {
      datagram?.reconnect(routes, at: now)
    } else {
      datagram = .initiating(
        routes, key: key, token: token, handshake: makeHandshake(of: key),
        beginsWithTicket: usesTokens, overhead: local.routingLength, at: now)
      if usesTokens { hasSentRequest = true }
      beginKnownHandshake()
      sendRequestIfNeeded(at: now)
    }
  }

  /// Handles a hello that proves the initiator's address `source`, and the part of a handshake that
  /// followed it. The initiator's later datagrams come from this address.
  mutating func receive(
    _ hello: Hello, _ part: HandshakePart? = nil, from source: Route, at now: Instant
  ) {
    guard !isInitiator, !isEnding, attempt != .wrong else { return }
    guard datagram != nil, !wouldBeginHandshake(hello, with: part, at: now) else {
      _ = beginPath(hello, part, from: source, at: now)
      return
    }
    datagram?.handleHello(hello, from: source, at: now)
    guard let part else { return }
    let limits = keyLimits
    let end = datagram?.handlePart(part, behind: hello, from: source, limits, at: now)
    switch end {
    case nil: break
    case .keys:
      checkIdentities(at: now)
      if datagram != nil { recordAttempt(isRight: true) }
    case .wrongCode: recordAttempt(isRight: false)
    }
  }

  /// Stops sending datagrams if the connection is ending. A peer that opens a new connection from
  /// the same address has ended this connection too, and would mistake a repeated goodbye for a
  /// goodbye of the new connection.
  mutating func dropDatagramPathIfEnding() {
    guard isEnding else { return }
    datagram = nil
    if stream == nil { state = .closed }
  }

  /// Handles a retry: either the answer to a hello, or a report that the peer does not recognize
  /// this side's address.
  mutating func handleRetry(_ retry: Retry, from source: Route, at now: Instant) {
    let wasOpen = datagram?.isOpen == true
    datagram?.handleRetry(retry, from: source, at: now)
    beginKnownHandshake()
    if !wasOpen { sendRequestIfNeeded(at: now) }
  }

  /// Handles a data packet of this connection. The messages that can be read in place are added to
  /// `arrivals`.
  mutating func receiveDatagram(
    _ packet: Span<UInt8>, into arrivals: inout Arrivals, _ scratch: inout Scratch,
    at now: Instant
  ) {
    guard !isClosed else { return }
    // Messages follow the events that are due.
    if !isOpen || hasEvents { arrivals.connection = 0 }
    scratch.outcome.removeAll()
    let allowsMessages = isInitiator ? !isEnding : isOpen
    guard
      let isAccepted = datagram?.receive(
        packet, &channels, allowsMessages: allowsMessages, into: &arrivals, &scratch, at: now)
    else { return }
    applyOutcome(scratch.outcome, at: now)
    guard isAccepted else {
      if hasTooManyForgeries { closeForKeyLimits(at: now) }
      return processChannels(at: now)
    }
    recordSignOfLife(at: now)
    updateLivenessCheck()
    processChannels(at: now)
    reportLinkChange()
  }

  private var hasTooManyForgeries: Bool {
    datagram?.forgedPackets ?? 0 > 0 && datagram?.hasTooManyForgeries(keyLimits) == true
  }

  /// Drops the datagram path, on which more packets were forged or encrypted than its keys
  /// withstand. Without a stream, the connection ends.
  private mutating func closeForKeyLimits(at now: Instant) {
    guard stream?.isJoined != true else { return dropDatagrams(at: now) }
    if !isEnding { emitClosed(.connectionLost) }
    closeNow()
  }

  /// Returns whether a datagram may be ready to send after one was received. If the result is
  /// false, `pollDatagram` would return nil.
  mutating func mayTransmit(at now: Instant) -> Bool {
    guard isOpen, !needsStreamPoll() else { return true }
    return channels.hasPending || datagram?.mayTransmit(at: now) ?? true
  }

  /// Writes the next datagram with `scratch.writer` and returns its route, or `nil` if no datagram
  /// can be sent now.
  mutating func pollDatagram(_ scratch: inout Scratch, at now: Instant) -> Route? {
    guard attempt == .none else { return nil }
    let carriesMessages = findLink() == .datagram
    let route = datagram?.pollTransmit(
      &channels, carriesMessages: carriesMessages, &scratch, at: now)
    if route == nil, datagram?.hasUsedUpKey() == true { closeForKeyLimits(at: now) }
    return route
  }

  /// Returns a counter that changes whenever the addresses of the datagram path change.
  mutating func findMigrations() -> UInt32 { datagram?.findMigrations() ?? 0 }

  /// Returns the route of the datagram path; nil if no address of the peer is known.
  mutating func findRoute() -> Route? { datagram?.findRoute() }

  /// Returns the peer's addresses on the datagram path.
  mutating func findEndpoints() -> [Endpoint] { datagram?.findEndpoints() ?? [] }
}
