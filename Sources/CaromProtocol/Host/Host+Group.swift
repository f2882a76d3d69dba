import CaromCore

// A host that shares its port with the other hosts of a group. The host queues each decision that
// needs the group's directory as a `DirectoryRequest`; the shell locks the directory and calls
// `resolveRequests(with:)`. `pollHandoff` returns the datagrams and streams that belong to another
// host. Packets of the host's own connections need neither.

/// A decision that needs the group's directory.
enum DirectoryRequest: Sendable {
  /// Record that the first hello of an initiator arrived here. The hello proves nothing yet.
  case recordInitiator(ConnectionKey)
  /// Find the host for a hello whose key is unknown to this host and whose sender has proven its
  /// address.
  case hello(Hello, [UInt8], from: Route)
  /// Decide about an attempt to prove knowledge of the host's code.
  case attempt(ConnectionID, isRight: Bool)
  /// Decide about a ticket that a peer has presented on a stream.
  case ticket(ConnectionID)
  /// Record that a connection that has used a ticket is gone. `hasKey` is true if the connection
  /// had the ticket's key.
  case releaseTicket(TicketUse, ConnectionID, hasKey: Bool)
  /// Find a seat for a peer that requests one, or the host to which the peer's stream belongs.
  case seat(ConnectionID, PeerInfo)
  /// Find the connection that a stream wants to join, because this host does not know its key.
  case join(ConnectionID)
  /// Admit the peer of a connection, as the host's owner has decided.
  case admit(ConnectionID)
  /// Issue an address token for the peer of a connection.
  case issueToken(ConnectionID)
  /// Release the seat that a connection held or had requested, because the connection has ended.
  case releaseSeat(ConnectionID, PeerID)
  /// Release the key of a connection that was removed. `wasAnswered` is true if its peer's request
  /// was answered.
  case releaseKey(ConnectionKey, ConnectionID, wasAnswered: Bool)
}

extension Host {
  /// The maximum number of queued directory requests. At this limit, the host drops hellos that
  /// belong to no connection. The senders of these hellos repeat them.
  private static let helloLimit = 256
  /// The maximum number of endpoints in `relays`. At this limit, the host removes all of them and
  /// asks their peers for another hello.
  private static let relayLimit = 4096

  /// Whether `resolveRequests(with:)` must be called.
  package var hasDirectoryRequests: Bool { !directoryRequests.isEmpty }

  /// Resolves the queued requests with the directory that all hosts of the group share.
  package mutating func resolveRequests(with directory: inout HostDirectory, at now: Instant) {
    guard let member else { return }
    swap(&tickets, &directory.tickets)
    defer { swap(&tickets, &directory.tickets) }
    while let request = directoryRequests.popFirst() {
      switch request {
      case .recordInitiator(let key): directory.recordInitiator(key, at: member)
      case .hello(let hello, let bytes, let route):
        resolve(hello, bytes, from: route, &directory, at: now)
      case .attempt(let id, let isRight): decide(id, isRight: isRight, &directory.gate, at: now)
      case .ticket(let id): resolveTicket(on: id, at: now)
      case .releaseTicket(let use, let id, let hasKey):
        release(use, of: id, hasKey: hasKey, owner: directory.owners[use.owner])
      case .seat(let id, let info): resolveSeat(for: info, on: id, &directory, at: now)
      case .join(let id): resolveJoin(id, directory, at: now)
      case .admit(let id):
        guard let peer = requestingPeer(on: id) else { continue }
        apply(directory.seating.admit(id, peer), to: id, at: now)
      case .issueToken(let id): sendToken(directory.tokens.issue(), to: id, at: now)
      case .releaseSeat(let id, let peer): directory.seating.release(id, peer)
      case .releaseKey(let key, let id, let wasAnswered):
        directory.release(key, of: id, wasAnswered: wasAnswered, at: now)
      }
    }
  }

  /// Removes and returns the next handoff and the index of the group member that must receive the
  /// handoff, or nil if there is none.
  package mutating func pollHandoff() -> (handoff: Handoff, member: Int)? { handoffs.popFirst() }
}

// MARK: - Datagrams
extension Host {
  /// Asks the directory to record that an initiator's datagrams arrive at this host, so that the
  /// initiator's stream is handed to this host as well.
  mutating func reportInitiator(_ key: ConnectionKey) {
    guard member != nil, keys[key] == nil, directoryRequests.count < Self.helloLimit else { return }
    directoryRequests.append(.recordInitiator(key))
  }

  /// Queues a hello with an unknown key for the directory, unless too many requests are queued.
  /// Returns false, without any effect, if the host is not in a group and must decide on its own.
  mutating func deferToDirectory(
    _ hello: Hello, _ bytes: Span<UInt8>, from source: Route
  ) -> Bool {
    guard member != nil else { return false }
    if directoryRequests.count < Self.helloLimit {
      directoryRequests.append(.hello(hello, Array(copying: bytes), from: source))
    }
    return true
  }

  private mutating func resolve(
    _ hello: Hello, _ bytes: [UInt8], from source: Route, _ directory: inout HostDirectory,
    at now: Instant
  ) {
    let state = directory.state(of: hello.key)
    if case .owned(let owner) = state, owner.member != member {
      // Without a cookie, the sender has not proven its address.
      if hello.hasTicket { return sendRetry(for: hello, to: source, at: now) }
      if relays.count >= Self.relayLimit { relays.removeAll() }
      relays[source.endpoint] = owner.member
      handoffs.append((.datagram(bytes, from: source), owner.member))
      return
    }
    if let token = hello.token {
      if keys[hello.key] != nil { return receive(hello, token, bytes.span, from: source, at: now) }
      guard directory.tokens.use(token.serial) else {
        return sendRetry(for: hello, to: source, at: now)
      }
    }
    if !hello.hasTicket { relays[source.endpoint] = nil }
    let tail = HelloTail(of: bytes.span, after: hello)
    let history: KeyHistory =
      state == .ended
      ? .ended : hello.token != nil || directory.memory.isComplete(at: now) ? .new : .forgotten
    if let id = acceptHello(hello, tail, from: source, history, at: now) {
      directory.claim(hello.key, for: id)
    }
    receivePacket(tail, in: bytes.span, from: source, at: now)
  }

  /// Passes a datagram to another host if the source's connection belongs to that host. Returns
  /// whether the datagram was passed on.
  mutating func relay(_ bytes: Span<UInt8>, from source: Route) -> Bool {
    guard !relays.isEmpty, let owner = relays[source.endpoint] else { return false }
    handoffs.append((.datagram(Array(copying: bytes), from: source), owner))
    return true
  }
}

// MARK: - Streams
extension Host {
  private mutating func resolveSeat(
    for info: PeerInfo, on id: ConnectionID, _ directory: inout HostDirectory, at now: Instant
  ) {
    guard let index = index(of: id), !entries[index].connection.isEnding else { return }
    if hasLostTicket(index) { return refuseAsForgotten(index, at: now) }
    let key = entries[index].connection.key
    if key != .none {
      switch directory.state(of: key) {
      case .owned(let owner) where owner.member != member:
        return handOver(index, of: info, to: owner.member, at: now)
      case .owned(let owner) where owner != id:
        if let other = self.index(of: owner), !entries[other].connection.isEnding {
          return merge(index, of: info, into: other, at: now)
        }
        if hasEnded(key) { return refuseAsForgotten(index, at: now) }
      case .pending(let other) where other != member && !entries[index].wasHandedOver:
        return handOver(index, of: info, to: other, at: now)
      case .ended: return refuseAsForgotten(index, at: now)
      case .owned, .pending, .unknown: break
      }
      directory.claim(key, for: id)
    }
    guard hasSeats(for: info) else { return declineAsFull(index, info, at: now) }
    apply(directory.seating.request(id, info), to: id, info, at: now)
  }

  private mutating func resolveJoin(
    _ id: ConnectionID, _ directory: HostDirectory, at now: Instant
  ) {
    guard let index = index(of: id), !entries[index].connection.isEnding else { return }
    if case .owned(let owner) = directory.state(of: entries[index].connection.key) {
      if owner.member != member { return handOver(index, of: nil, to: owner.member, at: now) }
      if let other = self.index(of: owner), other != index,
        !entries[other].connection.isEnding
      {
        return merge(index, of: nil, into: other, at: now)
      }
    }
    refuseAsForgotten(index, at: now)
  }

  private mutating func refuseAsForgotten(_ index: Int, at now: Instant) {
    closeAsForgotten(index, at: now)
    refresh(index, at: now)
  }

  /// Hands a connection's stream, with the bytes already read from it, to another host, and removes
  /// the connection.
  private mutating func handOver(
    _ index: Int, of info: PeerInfo?, to owner: Int, at now: Instant
  ) {
    let id = entries[index].id
    let key = entries[index].connection.key
    guard let path = entries[index].connection.removeStream() else { return }
    entries[index].connection.secrets?.ticket = nil  // It passes to the other host.
    handoffs.append((.stream(id, HandedStream(path: path, key: key, info: info)), owner))
    remove(index, at: now)
  }
}

// MARK: - Handoffs from other hosts
extension Host {
  /// Receives a datagram that arrived at another host of the group.
  package mutating func receiveRelayed(_ bytes: Span<UInt8>, from source: Route, at now: Instant) {
    receiveDatagram(bytes, from: source, isRelayed: true, at: now)
  }

  /// Adds a connection for a stream that another host of the group handed over. Returns false
  /// without adding a connection if `connectionLimit` is reached.
  package mutating func accept(
    _ handed: HandedStream, as id: ConnectionID, at now: Instant
  ) -> Bool {
    let connection =
      if handed.path.isSealed, let sealedSide {
        Connection.responding(on: handed, as: sealedSide, at: now)
      } else {
        Connection.responding(on: handed, as: side, makeSecrets(), at: now)
      }
    var entry = Entry(id: id, connection: connection, isIncoming: true)
    guard entries.count < Self.connectionLimit else {
      releaseTicket(of: entry)
      return false
    }
    entry.wasHandedOver = true
    insert(entry, at: now)
    return true
  }

  /// Closes a connection of this host because a connection of another host takes over its seat.
  package mutating func evict(_ id: ConnectionID, for other: ConnectionID, at now: Instant) {
    close(id, Goodbye(.replaced), as: .replaced, at: now)
    handoffs.append((.evicted(for: other), other.member))
  }
}
