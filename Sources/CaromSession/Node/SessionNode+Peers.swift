import CaromCore
import CaromCrypto
import CaromProtocol
import CaromTransport

// MARK: - Admitting and disconnecting peers
extension SessionNode {
  /// Grants a peer the seat that it requested, as reported by a `requested` event.
  public func admit(_ connection: ConnectionID) {
    lobby.admit(connection, at: loop.now)
    drain()
  }

  /// Refuses a request or closes a connection: sends `goodbye` to the peer, and reports `reason` in
  /// a `closed` event.
  public func close(
    _ connection: ConnectionID, _ goodbye: Goodbye, as reason: DisconnectReason = .closedLocally
  ) {
    lobby.close(connection, goodbye, as: reason, at: loop.now)
    drain()
  }

  /// Disconnects a peer and sends it `reason`. A reason longer than 255 bytes of UTF-8 is omitted.
  public func kick(_ connection: ConnectionID, _ reason: String = "") {
    close(connection, Goodbye(.kicked, text: reason), as: .closedLocally)
  }
}

// MARK: - State of peers
extension SessionNode {
  /// The open connections and their peers, in the order in which the connections were created.
  public var peers: [(connection: ConnectionID, info: PeerInfo)] {
    lobby.connectionIDs.compactMap { connection in
      lobby.host.openPeer(of: connection).map { (connection, $0) }
    }
  }

  /// Returns the peer of an open connection, or nil if the connection is not open.
  public func peer(of connection: ConnectionID) -> PeerInfo? {
    lobby.host.openPeer(of: connection)
  }

  /// Returns whether the peer opened the connection, rather than this side.
  public func isIncoming(_ connection: ConnectionID) -> Bool {
    lobby.host.isIncoming(connection)
  }

  /// Returns the measured round-trip time and clock offset of a peer, or nil if the connection has
  /// ended.
  public func roundTrip(to connection: ConnectionID) -> RoundTrip? {
    lobby.host.roundTrip(of: connection)
  }

  /// Returns the kind of link that carries messages to a peer now, or nil if no link works.
  public func kind(of connection: ConnectionID) -> LinkKind? { lobby.host.kind(of: connection) }

  /// Returns the counters and measurements of a connection, or nil if the connection has ended.
  public func statistics(of connection: ConnectionID) -> PeerStatistics? {
    lobby.host.statistics(of: connection)
  }

  func lastReceived(from connection: ConnectionID) -> Instant? {
    lobby.host.lastReceived(from: connection)
  }

  /// The number of player seats that are neither taken nor requested.
  public var freeSeats: Int { freeSeats(forSpectators: false) }

  /// The number of spectator seats that are neither taken nor requested.
  public var freeSpectatorSeats: Int { freeSeats(forSpectators: true) }

  private func freeSeats(forSpectators: Bool) -> Int {
    guard let share = group?.share else {
      return lobby.host.freeSeats(forSpectators: forSpectators)
    }
    return share.directory.withLock { $0.seating.free(forSpectators: forSpectators) }
  }
}

// MARK: - Shutting down
extension SessionNode {
  /// Closes all connections with `goodbye`, after the messages that were posted before, and stops
  /// listening and matchmaking. The sockets stay open until the goodbyes have been sent.
  public func retire(_ goodbye: Goodbye = Goodbye(.left)) {
    guard !isShutDown else { return }
    handlePosts()
    isShutDown = true
    sockets.closeListeners()
    closeDoors()
    for connection in dials.keys.sorted() { dials[connection]?.task?.cancel() }
    lobby.retire(goodbye, at: loop.now)
    drain()
  }

  /// Retires the node with `retire`, waits up to `SessionTiming.closeLimit` for all goodbyes to be
  /// sent, and closes the sockets.
  public func shutdown(_ goodbye: Goodbye = Goodbye(.left)) async {
    await sendGoodbyes(goodbye)
    closeSockets()
  }

  /// Retires the node with `retire`, and waits until all goodbyes have been sent. The UDP sockets
  /// stay open.
  func sendGoodbyes(_ goodbye: Goodbye) async {
    retire(goodbye)
    await withCheckedContinuation { continuation in
      if isIdle { continuation.resume() } else { waiters.idle.append(continuation) }
    }
  }

  func closeSockets() {
    closeChannels()
    for socket in sockets.datagrams { socket.close() }
    group?.nodes = []
  }
}

extension SessionNode {
  /// Returns how the newest link of a connection is protected. A connection that has ended has no
  /// protection.
  public func protection(of connection: ConnectionID) -> LinkProtection {
    lobby.host.protection(of: connection) ?? .none
  }

  /// Returns how the connection to a peer is encrypted; nil if it is in plaintext or has ended.
  public func security(of connection: ConnectionID) -> PeerSecurity? {
    lobby.host.proof(of: connection).map {
      PeerSecurity(
        publicKey: $0.key, token: $0.ticket, protection: protection(of: connection))
    }
  }
}
