import CaromCore

/// The remote endpoint of a datagram path and the role of the peer there. Two hosts that connect to
/// each other have two paths between the same endpoints.
struct PathAddress: Hashable, Sendable {
  var endpoint: Endpoint
  /// The role of the peer at `endpoint`.
  var sender: PathRole
}

/// The part of a datagram after its hello: on an encrypted path, first a message of the handshake;
/// then, on any path, possibly a data packet.
struct HelloTail {
  /// The initiator's message of the handshake; nil if there is none or it is malformed.
  var part: HandshakePart?
  /// Where the data packet begins, in bytes; the end of the datagram if there is none.
  var packet: Int

  init(of bytes: Span<UInt8>, after hello: Hello) {
    packet = hello.isPadded ? bytes.count : hello.length
    guard hello.isSealed, packet < bytes.count,
      bytes[packet] == SessionDatagram.handshakeByte
    else { return }
    var reader = PacketReader(bytes.extracting(packet + 1..<bytes.count))
    if let part = try? HandshakePart(decoding: &reader), part.sender == .initiator,
      part.keyPrefix == hello.key.prefix,
      part.number == 3 || hello.hasTicket || reader.remaining == 0
    {
      self.part = part
      packet += part.length
    }
    // What follows the first message is padding, if anything.
    if part?.number != 3 { packet = bytes.count }
  }
}

/// A datagram in reply to a sender for which the host stores no state.
package struct StatelessReply: Sendable {
  package var bytes: [UInt8]
  package var route: Route
}

// Receives datagrams: finds the connection of each, and answers senders that have no connection.
extension Host {
  /// The maximum number of stateless replies that wait to be sent. Beyond this number, new replies
  /// are dropped.
  static let statelessReplyLimit = 64
  /// The minimum length in bytes of a data packet that belongs to no connection and is still
  /// answered. It is at least three times the length of the answer, to prevent amplification
  /// attacks.
  private static let minimumAnsweredLength = 30

  /// Receives a datagram from one of the shell's sockets. `isRelayed` is true if the datagram
  /// arrived at another host of the group.
  package mutating func receiveDatagram(
    _ bytes: Span<UInt8>, from source: Route, isRelayed: Bool = false, at now: Instant
  ) {
    var none = Arrivals()
    receiveDatagram(bytes, from: source, isRelayed: isRelayed, into: &none, at: now)
  }

  /// Receives a datagram as `receiveDatagram` without `arrivals` does, but adds those messages that
  /// can be read immediately to `arrivals`. Read these messages before polling.
  package mutating func receiveDatagram(
    _ bytes: Span<UInt8>, from source: Route, isRelayed: Bool = false,
    into arrivals: inout Arrivals, at now: Instant
  ) {
    guard !bytes.isEmpty else { return }
    if DataHeader.begins(with: bytes[0]) {
      return receiveData(bytes, from: source, isRelayed: isRelayed, into: &arrivals, at: now)
    }
    var reader = PacketReader(bytes)
    guard let datagram = try? SessionDatagram(decoding: &reader) else { return }
    switch datagram {
    case .hello(let hello) where hello.hasTicket:
      receiveTicket(hello, bytes, from: source, at: now)
    case .hello(let hello):
      receive(hello, bytes, from: source, at: now)
    case .retry(let retry):
      guard let index = outgoingConnection(to: source.endpoint) else { return }
      entries[index].connection.handleRetry(retry, from: source, at: now)
      refresh(index, at: now)
    case .refusal(let refusal):
      guard let index = outgoingConnection(to: source.endpoint),
        entries[index].connection.key.prefix == refusal.keyPrefix
      else { return }
      entries[index].connection.handleRefusal(refusal, at: now)
      refresh(index, at: now)
    case .handshake(let part):
      guard let index = outgoingConnection(to: source.endpoint),
        entries[index].connection.key.prefix == part.keyPrefix
      else { return }
      entries[index].connection.handleAnswer(part.message.span, from: source, at: now)
      refresh(index, at: now)
      guard reader.remaining > 0 else { return }
      let packet = bytes.extracting(reader.offset..<bytes.count)
      receivePacket(packet, from: source, at: now)
    case .data: break
    }
  }

  /// Receives the data packet that follows a hello in the same datagram, if there is one.
  mutating func receivePacket(
    _ tail: HelloTail, in bytes: Span<UInt8>, from source: Route, at now: Instant
  ) {
    guard bytes.count > tail.packet else { return }
    let packet = bytes.extracting(tail.packet..<bytes.count)
    guard DataHeader.begins(with: packet[0]), DataHeader.role(of: packet[0]) == .initiator else {
      return
    }
    receivePacket(packet, from: source, at: now)
  }

  /// Receives a data packet that follows something else in its datagram. None of its messages is
  /// read in place, and those of earlier datagrams stay in the buffer of decrypted packets.
  private mutating func receivePacket(
    _ packet: Span<UInt8>, from source: Route, at now: Instant
  ) {
    var (none, opened) = (Arrivals(), [UInt8]())
    swap(&opened, &scratch.opened)
    receiveData(packet, from: source, followsHello: true, into: &none, at: now)
    swap(&opened, &scratch.opened)
  }

  /// Returns the index of the connection that this host initiated to `endpoint`, or nil if there is
  /// none.
  private func outgoingConnection(to endpoint: Endpoint) -> Int? {
    paths[PathAddress(endpoint: endpoint, sender: .responder)].flatMap { index(of: $0) }
  }

  @inline(__always)
  private mutating func receiveData(
    _ bytes: Span<UInt8>, from source: Route, followsHello: Bool = false,
    isRelayed: Bool = false, into arrivals: inout Arrivals, at now: Instant
  ) {
    let sender = DataHeader.role(of: bytes[0])
    if let id = paths[PathAddress(endpoint: source.endpoint, sender: sender)],
      let index = index(of: id)
    {
      arrivals.connection = events.isEmpty ? id.number : 0
      let change = entries[index].receiveDatagram(bytes, into: &arrivals, &scratch, at: now)
      return refreshAfterDataPacket(index, change, at: now)
    }
    guard sender == .initiator, !followsHello else { return }
    if !isRelayed, relay(bytes, from: source) { return }
    guard bytes.count >= Self.minimumAnsweredLength else { return }
    let cookie = Cookie(for: source.endpoint, secret: secret, at: now)
    reply(to: source) { Retry(cookie: cookie, keyPrefix: nil).write(to: &$0) }
  }

  private mutating func receive(
    _ hello: Hello, _ bytes: Span<UInt8>, from source: Route, at now: Instant
  ) {
    if let token = hello.token { return receive(hello, token, bytes, from: source, at: now) }
    let tail = HelloTail(of: bytes, after: hello)
    if let cookie = hello.cookie, cookie.isValid(for: source.endpoint, secret: secret, at: now) {
      if keys[hello.key] == nil, deferToDirectory(hello, bytes, from: source) { return }
      let history = findHistory(of: hello.key, at: now)
      acceptHello(hello, tail, from: source, history, at: now)
    } else {
      reportInitiator(hello.key)
      sendRetry(for: hello, to: source, at: now)
    }
    if hello.cookie != nil { receivePacket(tail, in: bytes, from: source, at: now) }
  }

  /// Replies to a hello with a retry, whose cookie lets the sender prove its address.
  mutating func sendRetry(for hello: Hello, to source: Route, at now: Instant) {
    let cookie = Cookie(for: source.endpoint, secret: secret, at: now)
    // Without a prefix, the reply to a hello with a cookie is shorter than the hello. The sender
    // needs no prefix, because it has already chosen this host.
    let prefix = hello.cookie == nil ? hello.key.prefix : nil
    reply(to: source) { Retry(cookie: cookie, keyPrefix: prefix).write(to: &$0) }
  }

  /// Accepts a hello whose sender has proven its address. If a connection with the hello's key
  /// exists, moves its path and returns nil. Otherwise starts a connection and returns its id, or
  /// refuses the hello and returns nil. `history` is what is known about the key.
  @discardableResult
  mutating func acceptHello(
    _ hello: Hello, _ tail: HelloTail, from source: Route, _ history: KeyHistory, at now: Instant
  ) -> ConnectionID? {
    guard let id = keys[hello.key], let index = index(of: id) else {
      return startConnection(for: hello, tail, from: source, history, at: now)
    }
    guard accepts(hello, from: source, for: entries[index].connection) else { return nil }
    if entries[index].connection.wouldBeginHandshake(hello, with: tail.part, at: now),
      !takeHandshake(tail.part, at: now)
    {
      return nil
    }
    entries[index].connection.receive(hello, tail.part, from: source, at: now)
    // A new path in place of another counts its changes from the beginning.
    updatePaths(of: index, at: now)
    refresh(index, at: now)
    return nil
  }

  /// Starts a connection for a hello with an unknown key and returns its id. Refuses the hello and
  /// returns nil if the connection has ended, the version differs, one side encrypts and the other
  /// does not, or there are too many connections. If the connection must be encrypted and the
  /// handshake cannot begin with what follows the hello, ignores the hello and returns nil.
  private mutating func startConnection(
    for hello: Hello, _ tail: HelloTail, from source: Route, _ history: KeyHistory,
    at now: Instant
  ) -> ConnectionID? {
    if let reason = findRefusal(of: hello, tail.part, from: source, hasEnded: history == .ended) {
      if reason == .full { refuseBeyondConnectionLimit() }
      let refusal = Refusal(
        keyPrefix: hello.key.prefix, reason: reason.rawValue,
        tag: history == .ended ? makeRefusalTag(of: hello.key) : nil)
      reply(to: source) { refusal.write(to: &$0) }
      return nil
    }
    let address = PathAddress(endpoint: source.endpoint, sender: .initiator)
    if hello.hasTicket, paths[address] != nil || relays[source.endpoint] != nil {
      // The sender has not proven its address, and must not take it from another connection.
      sendRetry(for: hello, to: source, at: now)
      return nil
    }
    let id = makeConnectionID()
    guard
      let connection = makeConnection(
        id, for: hello, tail.part, from: source, acceptsKnown: history != .forgotten, at: now)
    else { return nil }
    if let index = paths[address].flatMap({ index(of: $0) }) {
      entries[index].connection.dropDatagramPathIfEnding()
      refresh(index, at: now)
    }
    keys[hello.key] = id
    holdTicket(of: connection)
    let entry = Entry(
      id: id, connection: connection, isIncoming: true, isStranger: !acceptsTickets)
    insert(entry, at: now)
    return id
  }

  /// Whether peers have to present connect tokens.
  var acceptsTickets: Bool { side.security?.acceptsTickets == true }

  /// Creates the connection that begins with a hello. Returns nil if the hello is refused, which is
  /// told to its sender, or has no effect. If `acceptsKnown` is false, the hello may be one that
  /// somebody has recorded.
  private mutating func makeConnection(
    _ id: ConnectionID, for hello: Hello, _ part: HandshakePart?, from source: Route,
    acceptsKnown: Bool, at now: Instant
  ) -> Connection? {
    guard side.security == nil || part?.number == 1 else { return nil }
    guard acceptsTickets, let part else {
      guard takeHandshake(part, at: now),
        addStranger(id, from: source.endpoint.address, .datagrams, at: now)
      else { return nil }
      let connection = Connection.responding(
        to: hello, part, from: source, acceptsKnown: acceptsKnown, as: side, makeSecrets(),
        at: now)
      if connection == nil { strangers.remove(id) }
      return connection
    }
    switch decide(aboutTicketIn: part.message.span, of: hello.key, at: now) {
    case .accepted(let opening):
      return .responding(to: hello, opening, from: source, as: side, makeSecrets(), at: now)
    case .refused(let code):
      reply(to: source) {
        Refusal(keyPrefix: hello.key.prefix, reason: code.rawValue).write(to: &$0)
      }
      return nil
    case .ignored: return nil
    }
  }

  /// Returns the tag that the refusals of the connection with this key carry; nil in plaintext. All
  /// hosts of a group compute the same tag. The host sends the tag to the initiator once the
  /// connection is open, and to anybody who asks for the connection once it has ended and thus
  /// cannot open again. If the host sent the tag for every unknown key, somebody who has overheard
  /// the first hello of a connection could get the tag before the connection opens, and use it
  /// later to end the connection.
  func makeRefusalTag(of key: ConnectionKey) -> AuthenticationTag? {
    side.security?.makeRefusalTag(of: key, secret: secret)
  }

  /// Returns the reason to refuse a hello with an unknown key; nil if there is none.
  private func findRefusal(
    of hello: Hello, _ part: HandshakePart?, from source: Route, hasEnded: Bool
  ) -> Goodbye.Code? {
    if !hello.hasOwnVersion { return .versionMismatch }
    // A data channel continues the connection of a WebSocket.
    if source.isDataChannel { return .forgotten }
    if side.requiresSealedStreams || hello.isSealed != (side.security != nil) {
      return .securityMismatch
    }
    if let security = side.security, let part, part.number == 1,
      !security.hasOwnPattern(part.message.span) || !security.acceptsConnections
    {
      return .securityMismatch
    }
    if let refused = refusedAttempts.last(where: { $0.key == hello.key }) { return refused.code }
    if hello.resumes || hasEnded { return .forgotten }
    return entries.count < Self.connectionLimit ? nil : .full
  }

  /// Queues a stateless reply, unless too many replies are waiting.
  mutating func reply(to route: Route, _ write: (inout FrameWriter) -> Void) {
    guard statelessReplies.count < Self.statelessReplyLimit else { return }
    var writer = FrameWriter(limit: max(Retry.maximumLength, Refusal.maximumLength))
    write(&writer)
    statelessReplies.append(StatelessReply(bytes: writer.takeBytes(), route: route))
  }

  /// Removes and returns the next stateless reply, or nil if there is none. Send all stateless
  /// replies before any other datagram.
  package mutating func pollStatelessReply() -> StatelessReply? {
    statelessReplies.popFirst()
  }
}

// MARK: - Paths and keys
extension Host {
  /// Updates `paths` after the peer's endpoints for the connection at `index` have changed.
  mutating func updatePaths(of index: Int, at now: Instant) {
    entries[index].migrations = entries[index].connection.findMigrations()
    let endpoints = entries[index].connection.findEndpoints()
    let (id, role, known) = (
      entries[index].id, entries[index].peerRole, entries[index].endpoints
    )
    for endpoint in known where !endpoints.contains(endpoint) {
      removePath(from: endpoint, role, of: id)
    }
    for endpoint in endpoints { paths[PathAddress(endpoint: endpoint, sender: role)] = id }
    entries[index].endpoints = endpoints
    issueToken(forConnectionAt: index, at: now)
  }

  mutating func removePath(from endpoint: Endpoint, _ role: PathRole, of id: ConnectionID) {
    let address = PathAddress(endpoint: endpoint, sender: role)
    if paths[address] == id { paths[address] = nil }
  }

  /// Returns the index of another connection that has the same key as the connection at `index` and
  /// is not ending, or nil if there is none. If no other connection has the key, the connection at
  /// `index` becomes the key's owner.
  mutating func ownerOfKey(at index: Int) -> Int? {
    let key = entries[index].connection.key
    guard key != .none else { return nil }
    guard let id = keys[key], let other = self.index(of: id), other != index else {
      keys[key] = entries[index].id
      return nil
    }
    return entries[other].connection.isEnding ? nil : other
  }

  /// Returns whether a connection of this host with this key has ended after its request was
  /// answered. Packets that its initiator sent on another link may still arrive, but must not start
  /// a new connection.
  func hasEnded(_ key: ConnectionKey) -> Bool {
    if remembersEnd(of: key) { return true }
    guard let index = keys[key].flatMap({ index(of: $0) }) else { return false }
    return entries[index].wasAnswered && entries[index].connection.isEnding
  }

  /// Closes the connection at `index`, because its stream belongs to a connection that no longer
  /// exists or has ended. If that connection is still saying goodbye, it says the same on this
  /// stream too, where it may arrive first. A goodbye that waits for messages before it says
  /// nothing here, because it would overtake them.
  mutating func closeAsForgotten(_ index: Int, at now: Instant) {
    let owner = keys[entries[index].connection.key].flatMap { self.index(of: $0) }
    if let owner, owner != index, entries[owner].connection.goodbye != nil {
      entries[index].connection.emitClosed(.connectionLost)
      return entries[index].connection.closeNow()
    }
    let answer = owner.flatMap { $0 == index ? nil : entries[$0].connection.lateAnswer }
    entries[index].connection.close(
      answer ?? Goodbye(.forgotten), as: .connectionLost, at: now)
  }

  /// Moves the stream of the connection at `index` to the connection at `other`, and removes the
  /// connection at `index`. `info` describes the peer if it requested a seat on the stream, and is
  /// nil if the stream only joined a connection.
  mutating func merge(_ index: Int, of info: PeerInfo?, into other: Int, at now: Instant) {
    let (id, owner) = (entries[index].id, entries[other].id)
    // Streams that are encrypted below the session join each other alone.
    guard entries[other].connection.local === entries[index].connection.local,
      entries[other].connection.accepts(streamOf: entries[index].connection.provenPeer)
    else { return closeAsForgotten(index, at: now) }
    guard let stream = entries[index].connection.removeStream() else { return }
    entries[other].connection.adoptStream(stream, of: info, at: now)
    report(.adopted(id, by: owner))
    remove(index, at: now)
    if let other = self.index(of: owner) { refresh(other, at: now) }
  }
}
