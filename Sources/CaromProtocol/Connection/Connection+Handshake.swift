import CaromCodec
import CaromCore

// The handshakes of encrypted links. Each link has a handshake of its own, which proves the peer's
// identity, so that a link can join a connection only if both have the same peer.
extension Connection {
  /// The id that the peer has proven to have; nil if the connection is in plaintext, or if the peer
  /// has not proven an id yet.
  var provenPeer: PeerID? { newestKeys?.peer ?? (local.derivesIDs ? peer?.id : nil) }

  /// The keys of the datagram path or, if it has none, those of the stream.
  var newestKeys: LinkKeys? { datagram?.keys ?? stream?.keys }

  /// When the keys of the connection's links are replaced.
  var keyLimits: KeyLimits { local.security?.keyLimits ?? KeyLimits() }

  /// Begins the handshake of a link. Returns nil if the connection is in plaintext. `key` is the
  /// connection's key on a datagram path, and `none` on a stream.
  mutating func makeHandshake(of key: ConnectionKey) -> LinkHandshake? {
    guard let security = local.security, var own = secrets else { return nil }
    defer { secrets = own }
    guard security.usesTokens else { return .initiating(security, key: key, &own) }
    return makeTokenHandshake(security, of: key, &own)
  }

  /// Answers the first message of the peer's handshake, which is bound to `hello`.
  private mutating func answer(
    _ message: Span<UInt8>, of key: ConnectionKey, hello: [UInt8] = [], acceptsKnown: Bool = true
  ) -> HandshakeAnswer {
    guard let security = local.security, var own = secrets else { return .rejected }
    defer { secrets = own }
    return LinkHandshake.answering(
      message, security, key: key, hello: hello, acceptsKnown: acceptsKnown, &own)
  }

  /// Returns whether `hello`, if it is followed by `part`, would begin a handshake.
  func wouldBeginHandshake(
    _ hello: Hello, with part: HandshakePart?, at now: Instant
  ) -> Bool {
    guard let part, part.number == 1 else { return false }
    return datagram?.mayRestart(with: part, behind: hello, at: now) ?? true
  }

  /// Begins the datagram path that the peer opens. Returns false if the path must be encrypted and
  /// `part` is not the beginning of a handshake. If `acceptsKnown` is false, the request in a first
  /// message that is encrypted with this side's key is ignored, because the message may be a
  /// repetition.
  mutating func beginPath(
    _ hello: Hello, _ part: HandshakePart?, from source: Route, acceptsKnown: Bool = true,
    at now: Instant
  ) -> Bool {
    guard let security = local.security else {
      datagram = .responding(
        to: hello, from: source, overhead: local.routingLength, at: now)
      return true
    }
    if let use = secrets?.ticket {
      guard let part, part.number == 1,
        let opening = security.open(part.message.span, of: hello.key, as: use)
      else { return false }
      return beginPath(hello, opening, from: source, at: now)
    }
    guard let part, part.number == 1 else { return false }
    let answer = answer(
      part.message.span, of: hello.key, hello: hello.encoded, acceptsKnown: acceptsKnown)
    switch answer {
    case .rejected: return false
    case .second(let handshake):
      // Only an authentic message replaces the path of an initiator that knows this side's key.
      guard datagram?.keys == nil else { return false }
      datagram = .responding(
        to: hello, from: source, handshake: handshake, overhead: local.routingLength, at: now)
      return true
    case .last(let handshake, let keys, let payload):
      return beginPath(hello, handshake, keys, payload, from: source, at: now)
    }
  }

  /// Begins the datagram path that an initiator opens that knows this side's key. `payload` is its
  /// request for a seat. Returns false if it is not.
  private mutating func beginPath(
    _ hello: Hello, _ handshake: LinkHandshake, _ keys: DerivedKeys, _ payload: [UInt8],
    from source: Route, at now: Instant
  ) -> Bool {
    guard let request = try? ControlPacket.decode(payload.span), case .request = request,
      datagram?.keys.map({ $0.peer == keys.link.peer }) ?? true
    else { return false }
    return beginPath(hello, handshake, keys, with: request, from: source, at: now)
  }

  /// Begins the datagram path of an initiator whose first message contains `request`, a request for
  /// a seat. What an earlier path had in flight is sent again. Returns false if the peer is another
  /// one than before.
  mutating func beginPath(
    _ hello: Hello, _ handshake: LinkHandshake, _ keys: DerivedKeys, with request: ControlPacket,
    from source: Route, at now: Instant
  ) -> Bool {
    var outcome = DatagramPath.Outcome()
    datagram?.abandonAll(&outcome)
    datagram = .responding(
      to: hello, from: source, handshake, keys, keyLimits, overhead: local.routingLength, at: now)
    applyOutcome(outcome, at: now)
    checkIdentities(at: now)
    guard datagram != nil else { return false }
    receive(request, on: .datagram, at: now)
    return true
  }

  /// Handles the responder's message in the handshake of the datagram path.
  mutating func handleAnswer(_ message: Span<UInt8>, from source: Route, at now: Instant) {
    // An attempt with a code is made on one link first, so that a wrong one counts once. The
    // responder repeats its message.
    if local.security?.usesCode == true, !isOpen, stream?.keys != nil { return }
    let limits = keyLimits
    guard datagram?.handleAnswer(message, from: source, limits, at: now) == true else { return }
    // The host has read the request in the first message.
    if datagram?.keys?.usesKnownKey == true { hasSentRequest = true }
    checkIdentities(at: now)
    guard !closeIfUntrusted(at: now) else { return }
    sendRequestIfNeeded(at: now)
  }

  /// Drops the datagram path if its peer has proven an id other than the expected one: the id of
  /// the peer that has requested a seat or been granted one or, before that, the id that was proven
  /// on the stream, if any.
  mutating func checkIdentities(at now: Instant) {
    guard let proven = datagram?.keys?.peer else { return }
    if let other = peer?.id ?? stream?.keys?.peer, other != proven { dropDatagrams(at: now) }
  }

  /// Returns whether a stream whose peer has the proven id `other` may join the connection.
  func accepts(streamOf other: PeerID?) -> Bool {
    guard local.security != nil else { return true }
    guard let other else { return false }
    return (peer?.id ?? provenPeer ?? other) == other
  }

  /// Handles a message in the stream's handshake. A message that does not belong at this point of
  /// the handshake ends the stream, and also the connection if it is not open yet.
  mutating func receiveHandshake(_ version: UInt16, _ message: [UInt8], at now: Instant) {
    guard local.security != nil else { return closeForSecurity(at: now) }
    guard version == SessionWire.sealedVersion else { return closeForVersion(version, at: now) }
    if isInitiator {
      // As in `handleAnswer`, the link that has made more progress makes the first attempt.
      if local.security?.usesCode == true, !isOpen, datagram?.hasFoundPeer == true {
        let held: LinkHandshake? = stream?.handshake?.holding(message)
        stream?.handshake = held
        return
      }
      handleStreamAnswer(message, at: now)
    } else if let handshake = stream?.handshake {
      let limits = keyLimits
      switch handshake.readEnd(message.span) {
      case nil: cutStream(at: now)
      case .keys(let keys):
        stream?.begin(keys, limits)
        recordAttempt(isRight: true)
      case .wrongCode: recordAttempt(isRight: false)
      }
    } else if let security = local.security,
      !security.hasOwnPattern(message.span) || !security.acceptsConnections
    {
      closeForSecurity(at: now)
    } else if local.security?.acceptsTickets == true {
      guard stream?.keys == nil, ticketMessage == nil else { return cutStream(at: now) }
      ticketMessage = message
      events.append(.presented)
    } else if stream?.keys == nil {
      if local.security?.isForKnownHost(message.span) == true { events.append(.beganWithKnownKey) }
      acceptStream(answer(message.span, of: .none), at: now)
    } else {
      cutStream(at: now)
    }
  }

  /// Sends this side's answer to the first message of the stream's handshake.
  private mutating func acceptStream(_ answer: HandshakeAnswer, at now: Instant) {
    switch answer {
    case .rejected: cutStream(at: now)
    case .second(let handshake):
      stream?.handshake = handshake
      sendHandshake(handshake)
    case .last(let handshake, let keys, let payload):
      // The request or join comes encrypted: only then the first message is known to be new.
      guard payload.isEmpty else { return cutStream(at: now) }
      sendHandshake(handshake)
      let limits = keyLimits
      stream?.begin(keys, limits)
    }
  }

  /// Answers the responder's message in the stream's handshake, and requests a seat.
  private mutating func handleStreamAnswer(_ message: [UInt8], at now: Instant) {
    guard let next = stream?.handshake?.readAnswer(message.span) else {
      return cutStream(at: now)
    }
    if let handshake = next.handshake { sendHandshake(handshake) }
    let limits = keyLimits
    stream?.begin(next.keys, limits)
    guard accepts(streamOf: next.keys.link.peer) else { return cutStream(at: now) }
    if closeIfUntrusted(at: now) { return }
    sendOpening()
  }

  /// Answers the message in the stream's handshake that was held back until the attempt on the
  /// datagram path was decided.
  mutating func continueHeldStream(at now: Instant) {
    guard let held = stream?.handshake?.held, !held.isEmpty, !isEnding else { return }
    handleStreamAnswer(held, at: now)
  }

  /// Sends this side's newest message of the stream's handshake.
  mutating func sendHandshake(_ handshake: LinkHandshake) {
    stream?.append(.handshake(version: SessionWire.sealedVersion, handshake.message))
  }

  /// Requests a seat on the stream or, if the connection is open, joins the stream to it.
  mutating func sendOpening() {
    let opening: ControlPacket =
      isOpen
      ? .join(version: SessionWire.version, key)
      : .request(version: SessionWire.version, key, local.peer)
    stream?.append(opening)
  }

  /// Returns whether a packet may arrive on a stream without keys. On an encrypted connection, only
  /// handshake packets may, and a goodbye that refuses the handshake. Such a goodbye cannot end an
  /// open connection, and cannot send this side to another host.
  func allowsUnsealed(_ control: ControlPacket) -> Bool {
    guard local.security != nil else { return true }
    switch control {
    case .handshake: return true
    case .goodbye(let goodbye): return !isOpen && goodbye.code != .moved
    default: return false
    }
  }

  /// Returns `goodbye` as it may be sent on this connection: without its connect token if nothing
  /// encrypts the connection, because anybody who reads a connect token can take the player's
  /// place.
  func withoutExposedSecrets(_ goodbye: Goodbye) -> Goodbye {
    guard let next = goodbye.nextHost, local.security == nil, !local.requiresSealedStreams
    else { return goodbye }
    return Goodbye(movedTo: next.withoutToken)
  }

  /// Handles a malformed packet on the stream. Before the stream has keys, anybody could have sent
  /// it, so it does not end an open connection.
  mutating func handleViolation(at now: Instant) {
    guard local.security != nil, isOpen, stream?.keys == nil else {
      return closeForViolation(at: now)
    }
    cutStream(at: now)
  }

  /// Ends the connection, unless it is open, because the peer has sent a packet in plaintext: it
  /// uses another version of the protocol, or it does not encrypt its connections.
  mutating func closeForUnsealed(_ control: ControlPacket, at now: Instant) {
    guard !isOpen, let version = control.foreignVersion else { return closeForSecurity(at: now) }
    closeForVersion(version, at: now)
  }

  /// Ends the connection, unless it is open, because one side encrypts it and the other does not.
  mutating func closeForSecurity(at now: Instant) {
    guard !isOpen else { return cutStream(at: now) }
    close(Goodbye(.securityMismatch), as: .securityMismatch, at: now)
  }

  /// Cuts the stream because somebody other than the peer has written to it, or because the peer
  /// cannot be authenticated. The connection continues over datagrams if it has a datagram path.
  mutating func cutStream(at now: Instant) {
    handleLinkEnd(.reset, at: now)
    linkAction = .cut
  }
}

// MARK: - Whom this side accepts
extension Connection {
  /// Closes the connection if this side accepts only known peers and does not know the key that the
  /// peer has proven. `name` is the name that the peer gives itself; nil if the peer has not sent
  /// it yet. Returns whether the connection was closed.
  mutating func closeIfUntrusted(named name: String? = nil, at now: Instant) -> Bool {
    guard let keys = newestKeys,
      let why = local.security?.findDistrust(of: keys, named: name)
    else { return false }
    close(Goodbye(.untrusted), as: .untrusted(why), at: now)
    return true
  }

  /// Asks the host's gate to decide about the peer's code, if the host has one.
  mutating func recordAttempt(isRight: Bool) {
    guard local.security?.usesCode == true || local.requiresCode else { return }
    attempt = isRight ? .right : .wrong
    events.append(.attempted(isRight: isRight))
  }

  /// Lets the connection continue, because the gate has accepted the peer's code.
  mutating func acceptAttempt() { attempt = .none }

  /// Refuses the peer's attempt to prove the join code, with the reason `code`, and gives up the
  /// link on which the attempt was made. Apart from this reason, nothing that is sent reveals
  /// whether the attempt was right. If the attempt was made over datagrams, returns the route to
  /// which the refusal must be sent; otherwise returns nil.
  mutating func refuseAttempt(_ code: Goodbye.Code, at now: Instant) -> Route? {
    attempt = .none
    guard let path = datagram else {
      events = Deque()  // what followed the attempt
      stream?.dropKeys()
      close(Goodbye(code), as: Goodbye(code).reason, at: now)
      return nil
    }
    if stream != nil {
      dropDatagrams(at: now)
    } else {
      events = Deque()  // what followed the attempt
      datagram = nil
      close(Goodbye(code), as: Goodbye(code).reason, at: now)
    }
    return path.route
  }

  /// Returns the goodbye with which a host refuses the attempt on a stream, or nil if `body` is not
  /// such a goodbye. The host sends it unencrypted in place of the first encrypted body. Anybody
  /// can send such a goodbye, so it has no effect on an open connection, and cannot send this side
  /// to another host.
  func findRefusal(in body: Span<UInt8>) -> Goodbye? {
    guard isInitiator, !isOpen, stream?.hasOpenedBody == false,
      let packet = try? Packet(decoding: body),
      case .goodbye(let goodbye)? = try? ControlPacket(packet), goodbye.code != .moved
    else { return nil }
    return goodbye
  }
}
