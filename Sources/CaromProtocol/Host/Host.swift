import CaromCore
import CaromCrypto

/// All connections of one process: the accepted connections, whose peers occupy seats, and the
/// connections that this host opened. A host is a polled state machine; the shell owns the streams
/// and the datagram sockets.
///
/// After each call that passes input to the host, poll `pollEvent`, `pollStatelessReply` and
/// `pollReady` until each returns nil. Call `handleTimeout` at `nextTimeout`.
package struct Host {
  /// The maximum number of connections, including those that have not requested a seat. One core
  /// serves about a thousand players at 60 Hz, and a connection that has not requested a seat
  /// occupies 2 KiB.
  package static let connectionLimit = 4096

  let side: LocalSide
  /// What the connections share whose streams are encrypted below the session; nil if such streams
  /// are refused.
  let sealedSide: LocalSide?
  /// Whether accepting a stream may begin a TLS handshake, which counts like the session's own.
  package var expectsTLS = false
  var entries = ConnectionSlots()
  var events = Deque<HostEvent>()
  /// The connections that have a pending `messages` event, which is the most frequent kind of
  /// event. These events come after all of `events`.
  var readable = Deque<ConnectionID>()
  var ready = Deque<ConnectionID>()
  /// The next timeout of each connection, by slot.
  var deadlines = DeadlineTree()
  var scratch = Scratch()
  /// The connections whose timeouts `handleTimeout` is about to handle. It is a property only so
  /// that its storage is reused.
  private var expired: [ConnectionID] = []
  private var lastID: UInt64
  /// The gate that decides about attempts with the join code; nil if the host has no code. The
  /// hosts of a group use the directory's gate instead.
  var gate: CodeGate?
  /// The tickets that were used; nil if the host accepts none. The hosts of a group use the
  /// directory's, which is here only while the directory is in use.
  var tickets: TicketBook?
  /// The time of the wall clock at `Instant.zero`, in milliseconds since the beginning of 1970.
  var wallClockOffset: Int64 = 0
  /// The secrets for handshakes; nil if the host's links are in plaintext.
  private var secrets: LinkSecrets?
  var paths: PathTable
  var keys: [ConnectionKey: ConnectionID] = [:]
  /// The keys of accepted connections whose requests were answered and that have ended, with the
  /// times at which they ended, oldest first.
  var endedKeys: [(key: ConnectionKey, time: Instant)] = []
  /// Whether keys that were dropped from `endedKeys` still matter.
  var memory = KeyMemory()
  /// The keys of the connections whose attempts with the join code were refused most recently over
  /// datagrams, with the reasons, oldest first. A refusal may be lost, so the host repeats it when
  /// the initiator repeats its last message.
  var refusedAttempts: [(key: ConnectionKey, code: Goodbye.Code)] = []
  /// The accepted connections whose peers have not requested anything yet.
  var strangers = Strangers()
  var handshakeBudget: HandshakeBudget
  package internal(set) var strangerStatistics = StrangerStatistics()
  let secret: HostSecret
  /// The address tokens that this host has issued, unless it is in a group. The hosts of a group
  /// use the directory's tokens.
  var tokens = IssuedTokens()
  /// The stateless replies that wait to be sent.
  var statelessReplies = Deque<StatelessReply>()
  /// The unread messages of removed connections, oldest connection first.
  var undelivered: [UndeliveredMessages] = []

  /// This host's index among the hosts of its group, or nil if the host is not in a group.
  let member: Int?
  var directoryRequests = Deque<DirectoryRequest>()
  var handoffs = Deque<(handoff: Handoff, member: Int)>()
  /// The endpoints whose connections belong to another member of the group, with that member's
  /// index. The dictionary is never iterated, because its order is not deterministic.
  var relays: [Endpoint: Int] = [:]

  /// The next time at which `handleTimeout` must be called, or nil if no timer is armed.
  @inline(__always) package var nextTimeout: Instant? { deadlines.first }

  /// The seats of a host that is not in a group. In a group, the directory tracks which peers hold
  /// the seats, and only the numbers of seats are used here.
  var seating: Seating

  /// Creates a host without connections.
  ///
  /// `secret` is the key of the cookies and tokens that the host issues; draw it from the system's
  /// random number generator. All hosts of a group must have the same `secret`, and each its own
  /// `member`. If `security` is not nil, all links are encrypted, and the id of the identity in
  /// `security` becomes the host's id. If `requiresSealedStreams` is true, the host uses no
  /// datagrams and only streams that the shell marks as encrypted below the session, on which there
  /// is no handshake. The shell adds `routingLength` bytes, at most 32, to each datagram.
  package init(
    _ local: PeerInfo, seats: Int, spectatorSeats: Int = 0,
    timing: SessionTiming = SessionTiming(),
    secret: HostSecret = HostSecret(low: 0, high: 0), security: LinkSecurity? = nil,
    requiresSealedStreams: Bool = false, routingLength: UInt8 = 0, member: Int? = nil
  ) {
    self.member = member
    lastID = ConnectionID.beginning(of: member ?? 0).number
    var security: LinkSecurity? = security
    secrets = security?.takeSecrets()
    side = LocalSide(
      local, timing: timing, security: security, requiresSealedStreams: requiresSealedStreams,
      routingLength: routingLength)
    sealedSide = side.makeSealedSide()
    gate = security?.makeGate()
    tickets = member == nil ? security?.makeTicketBook() : nil
    handshakeBudget = HandshakeBudget(usesCode: security?.usesCode == true)
    seating = Seating(seats: seats, spectatorSeats: spectatorSeats)
    self.secret = secret
    paths = PathTable(secret: secret)
  }

  package var local: PeerInfo { side.peer }

  /// Returns an id that no connection of this host has had before.
  package mutating func makeConnectionID() -> ConnectionID {
    repeat { lastID += 1 } while !entries.hasPlace(for: ConnectionID(lastID))
    return ConnectionID(lastID)
  }

  /// Returns the secrets for the handshakes of a new connection; nil in plaintext.
  mutating func makeSecrets() -> LinkSecrets? { secrets?.makeSequence() }

  /// Whether every connection has ended and has nothing left to send. A connection may still answer
  /// a repeated goodbye.
  package var isIdle: Bool {
    connectionIDs.allSatisfy { id in
      index(of: id).map {
        entries[$0].connection.hasAcknowledgedGoodbye && !entries[$0].isReady
      } ?? true
    }
  }

  /// Returns a copy of a connection, or nil if there is none with this id. Intended for tests and
  /// diagnostics.
  package func connection(_ id: ConnectionID) -> Connection? {
    index(of: id).map { entries[$0].connection }
  }

  /// Returns whether the peer, not this host, initiated the connection.
  package func isIncoming(_ id: ConnectionID) -> Bool {
    index(of: id).map { entries[$0].isIncoming } ?? false
  }

  /// The ids of all connections, in ascending order.
  package var connectionIDs: [ConnectionID] { entries.ids }

  /// Returns the slot of a connection, or nil if there is no connection with this id.
  @inline(__always) func index(of id: ConnectionID) -> Int? { entries.slot(of: id) }
}

// MARK: - Connections
extension Host {
  /// Adds a connection for a stream that a peer opened from `source`. Returns false without adding
  /// one if there are too many connections or too many strangers of this source, or if the budget
  /// for handshakes is used up (see `findStreamPause`). `isSealed` is true if the stream is
  /// encrypted below the session. If it must be and is not, or is and the peer would have to prove
  /// a key or a connect token, the peer is told so. `code` is the join code that the peer has shown
  /// below the session, if any.
  package mutating func accept(
    _ id: ConnectionID, from source: IPAddress = .loopback4, isSealed: Bool = false,
    isWebSocket: Bool = false, code: String? = nil, at now: Instant
  ) -> Bool {
    guard entries.count < Self.connectionLimit else {
      refuseBeyondConnectionLimit()
      return false
    }
    guard takeHandshake(.stream, at: now), addStranger(id, from: source, .stream, at: now) else {
      return false
    }
    let own = isSealed ? sealedSide : side
    let isCodeRight = code.map { side.security?.isCode($0) == true }
    let connection =
      if let own, own.security == nil {
        Connection.respondingOnStream(
          as: own, isWebSocket: isWebSocket, isSealed: isSealed, isCodeRight: isCodeRight, at: now)
      } else {
        Connection.respondingOnStream(as: side, makeSecrets(), isWebSocket: isWebSocket, at: now)
      }
    insert(Entry(id: id, connection: connection, isIncoming: true, isStranger: true), at: now)
    if own == nil || side.requiresSealedStreams && !isSealed {
      close(id, Goodbye(.securityMismatch), as: .securityMismatch, at: now)
    }
    return true
  }

  /// Adds a stream that this host opened. If the connection exists already, the stream joins it;
  /// otherwise, the host requests a seat on the stream. Returns false if the connection is ending
  /// or already has a stream, in which case the shell must close the new stream.
  ///
  /// `hostKey` is the key that the host at the other end advertises, if any; see `connect`.
  /// `isSealed` is true if the stream is encrypted below the session; if it must be and is not, a
  /// connection that has no other link ends.
  @discardableResult
  package mutating func handleStreamConnected(
    _ id: ConnectionID, key: ConnectionKey = .none, hostKey: PublicKey? = nil,
    isSealed: Bool = false, at now: Instant
  ) -> Bool {
    guard isSealed || !side.requiresSealedStreams else {
      endUnsealed(id, key: key, at: now)
      return false
    }
    if let index = index(of: id) {
      let isAdded = entries[index].connection.addStream(at: now)
      refresh(index, at: now)
      return isAdded
    }
    let connection = Connection.initiatingOnStream(
      as: side, key: key, makeSecrets(advertisedKey: hostKey), at: now)
    insert(Entry(id: id, connection: connection, isIncoming: false), at: now)
    return true
  }

  /// Connects over datagrams to the first of `routes` that answers, and requests a seat there. The
  /// connection may already have a stream. Ignores endpoints that another outgoing connection of
  /// this host uses, unless the peer has closed that connection.
  ///
  /// `hostKey` is the key that the host there advertises, if any. It saves a round trip if the host
  /// has that key, and changes nothing else. Nothing is proven by it.
  package mutating func connect(
    _ id: ConnectionID, to routes: [Route], key: ConnectionKey, token: JoinToken? = nil,
    hostKey: PublicKey? = nil, at now: Instant
  ) {
    let unused = (side.requiresSealedStreams ? [] : routes).filter {
      let owner = paths[PathAddress(endpoint: $0.endpoint, sender: .responder)]
      guard let owner, owner != id, let index = index(of: owner) else { return true }
      return entries[index].connection.isLingering
    }
    if index(of: id) == nil {
      let connection = Connection.initiating(
        as: side, key: key, makeSecrets(advertisedKey: hostKey), at: now)
      insert(Entry(id: id, connection: connection, isIncoming: false), at: now)
    }
    guard let index = index(of: id) else { return }
    entries[index].connection.connect(to: unused, token: token, at: now)
    refresh(index, at: now)
  }

  mutating func insert(_ entry: Entry, at now: Instant) {
    refresh(entries.insert(entry), at: now)
  }

  mutating func remove(_ index: Int, at now: Instant) {
    let vacancy = Connection(
      local: side, key: .none, isInitiator: false, state: .closed, at: .zero)
    let entry = entries.remove(
      index, leaving: Entry(id: ConnectionID(0), connection: vacancy, isIncoming: false))
    deadlines.set(nil, at: index)
    if entry.isStranger { strangers.remove(entry.id) }
    storeUndeliveredMessages(of: entry)
    recordEnd(of: entry, at: now)
    for endpoint in entry.endpoints { removePath(from: endpoint, entry.peerRole, of: entry.id) }
    releaseTicket(of: entry)
    if keys[entry.connection.key] == entry.id { keys[entry.connection.key] = nil }
    if member != nil, entry.isIncoming, entry.connection.key != .none {
      directoryRequests.append(
        .releaseKey(entry.connection.key, entry.id, wasAnswered: entry.wasAnswered))
    }
    if entry.isReady { ready.removeAll { $0 == entry.id } }
  }

  /// Handles the failure to open a stream for a connection.
  package mutating func handleStreamFailed(_ id: ConnectionID, at now: Instant) {
    guard let index = index(of: id) else { return }
    entries[index].connection.handleStreamFailed(at: now)
    refresh(index, at: now)
  }

  /// Receives bytes from a connection's stream.
  package mutating func receive(_ bytes: Span<UInt8>, on id: ConnectionID, at now: Instant) {
    guard let index = index(of: id) else { return }
    entries[index].connection.receive(bytes, &scratch, at: now)
    refresh(index, at: now)
  }

  /// Handles the end of a connection's stream.
  package mutating func handleLinkEnd(_ end: LinkEnd, of id: ConnectionID, at now: Instant) {
    guard let index = index(of: id) else { return }
    entries[index].connection.handleLinkEnd(end, at: now)
    refresh(index, at: now)
    // Looked up by id: handling its events may have removed other entries.
    removeIfClosed(id, at: now)
  }

  private mutating func removeIfClosed(_ id: ConnectionID, at now: Instant) {
    if let index = index(of: id), entries[index].connection.isClosed { remove(index, at: now) }
  }

  /// Handles the timeouts that are due at `now`, in order of connection id. Call at `nextTimeout`.
  package mutating func handleTimeout(at now: Instant) {
    entries.freeEmptyChunks()
    expired.removeAll(keepingCapacity: true)
    var next = 0
    while let index = deadlines.firstIndex(from: next, dueAt: now) {
      expired.append(entries[index].id)
      next = index + 1
    }
    expired.sort()
    for position in expired.indices {
      guard let index = index(of: expired[position]) else { continue }
      entries[index].connection.handleTimeout(at: now)
      refresh(index, at: now)
    }
  }
}

// MARK: - After each call into a connection
extension Host {
  /// Finishes a call to the connection at `index`: handles its events, queues it as ready to
  /// transmit, and updates its paths and deadline.
  mutating func refresh(_ index: Int, at now: Instant) {
    let id = entries[index].id
    handleEvents(of: index, at: now)
    // Handling the events may have moved or removed the entry.
    guard let index = self.index(of: id) else { return }
    markReady(index)
    updatePathsAndDeadline(of: index, at: now)
  }

  /// Does the work of `refresh` after a data packet, which is the most frequent case. The
  /// connection is queued as ready only if it may have something to transmit.
  mutating func refreshAfterDataPacket(_ index: Int, _ change: Entry.Change, at now: Instant) {
    guard !change.needsRefresh else { return refresh(index, at: now) }
    if change.isReadable { readable.append(entries[index].id) }
    if change.isReady { ready.append(entries[index].id) }
    deadlines.set(change.timeout, at: index)
  }

  @inline(__always) mutating func updatePathsAndDeadline(of index: Int, at now: Instant) {
    if entries[index].connection.findMigrations() != entries[index].migrations {
      updatePaths(of: index, at: now)
    }
    deadlines.set(entries[index].connection.findTimeout(), at: index)
  }

  mutating func markReady(_ index: Int) {
    guard !entries[index].isReady else { return }
    entries[index].isReady = true
    ready.append(entries[index].id)
  }

  /// Queues a connection as ready again if its stream still has output. Call if the stream's send
  /// queue had no room for all of the output.
  package mutating func markReadyIfNeeded(_ id: ConnectionID) {
    if let index = index(of: id), entries[index].connection.findStreamOutput() { markReady(index) }
  }

  /// Returns whether a connection's stream has bytes to send or an action to perform.
  package mutating func hasStreamOutput(_ id: ConnectionID) -> Bool {
    index(of: id).map { entries[$0].connection.findStreamOutput() } ?? false
  }
}

// MARK: - Commands
extension Host {
  /// Closes a connection, or declines its request for a seat: sends `goodbye` to the peer and
  /// reports `reason` to this side's owner.
  package mutating func close(
    _ id: ConnectionID, _ goodbye: Goodbye, as reason: DisconnectReason = .closedLocally,
    at now: Instant
  ) {
    guard let index = index(of: id) else { return }
    entries[index].connection.close(goodbye, as: reason, at: now)
    refresh(index, at: now)
  }

  /// Queues a message on a connection's channel. Returns the number that identifies the message in
  /// events.
  @discardableResult
  package mutating func send(
    _ bytes: Span<UInt8>, on channel: UInt8, _ options: SendOptions, to id: ConnectionID,
    at now: Instant
  ) throws(SendError) -> UInt64? {
    guard let index = index(of: id) else { throw .notConnected }
    var isNewlyReady = false
    let result = entries[index].send(bytes, on: channel, options, &isNewlyReady, at: now)
    if isNewlyReady { ready.append(id) }
    return try result.get()
  }
}
