import CaromCore
import CaromProtocol
import CaromTransport

// Who is here, and who may stay.
extension SessionNode {
  /// Grants the seat that a `requested` event asked for.
  public func admit(_ link: ConnectionID) {
    lobby.admit(link, at: loop.now)
    drain()
  }

  /// Says goodbye: declines a request, or ends a connection. `closed` tells `reason` here.
  public func close(
    _ link: ConnectionID, _ goodbye: Goodbye, as reason: DisconnectReason = .closedLocally
  ) {
    lobby.close(link, goodbye, as: reason, at: loop.now)
    drain()
  }

  /// Makes a peer leave, and tells it why: at most 255 bytes.
  public func kick(_ link: ConnectionID, _ why: String = "") {
    close(link, Goodbye(.kicked, text: why), as: .closedLocally)
  }

  /// The links of all connected peers, in the order of opening.
  public var peers: [(link: ConnectionID, info: PeerInfo)] {
    lobby.connectionIDs.compactMap { link in lobby.host.openPeer(of: link).map { (link, $0) } }
  }

  /// The peer of a link that is connected.
  public func peer(of link: ConnectionID) -> PeerInfo? { lobby.host.openPeer(of: link) }

  /// Whether the peer asked this side for a seat, rather than this side the peer.
  public func isIncoming(_ link: ConnectionID) -> Bool { lobby.host.isIncoming(link) }

  /// What is known of the way to a peer.
  public func roundTrip(to link: ConnectionID) -> RoundTrip? { lobby.host.roundTrip(of: link) }

  /// What carries messages to a peer now.
  public func kind(of link: ConnectionID) -> LinkKind? { lobby.host.kind(of: link) }

  /// What is counted of a peer: the way to it, and what went over it.
  public func statistics(of link: ConnectionID) -> PeerStatistics? {
    lobby.host.statistics(of: link)
  }

  /// How many seats nobody holds or has asked for.
  public var freeSeats: Int { freeSeats(forSpectators: false) }

  /// How many spectators' seats nobody holds or has asked for.
  public var freeSpectatorSeats: Int { freeSeats(forSpectators: true) }

  private func freeSeats(forSpectators: Bool) -> Int {
    guard let share else { return lobby.host.freeSeats(forSpectators: forSpectators) }
    return share.directory.withLock { $0.seating.free(forSpectators: forSpectators) }
  }

  /// Says goodbye to everybody, and from now on neither listens nor matches: nobody sits down with
  /// a node that is about to go.
  public func retire(_ goodbye: Goodbye = Goodbye(.left)) {
    guard !isShutDown else { return }
    isShutDown = true
    for listener in listeners { listener.close() }
    listeners = []
    for task in connecting.values { task.cancel() }
    lobby.retire(goodbye, at: loop.now)
    drain()
  }

  /// Retires, and returns when all goodbyes have left, at the latest after
  /// `SessionTiming.closeLimit`.
  public func shutdown(_ goodbye: Goodbye = Goodbye(.left)) async {
    await settle(goodbye)
    closeSockets()
  }

  /// Retires, and returns when all goodbyes have left.
  func settle(_ goodbye: Goodbye) async {
    retire(goodbye)
    if !isIdle { await withCheckedContinuation { idleWaiters.append($0) } }
  }

  func closeSockets() {
    for socket in sockets { socket.close() }
    fellows = []
  }
}
