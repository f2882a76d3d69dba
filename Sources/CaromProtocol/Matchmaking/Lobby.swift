import CaromCore
import CaromCrypto

/// A host and, in matchmaking mode, its matchmaker. The same state machine runs on sockets and on
/// the virtual network.
package struct Lobby {
  /// A connection attempt that the matchmaker requested.
  private struct Dial: Sendable {
    let peer: PeerID
    let connection: ConnectionID
    var isConnected = false
  }

  /// The lobby's host. Calls that can produce events must go through the lobby; all other calls can
  /// be made on the host directly. A lobby with a matchmaker is in no group, so that the calls of a
  /// group are made on the host as well.
  package var host: Host
  package private(set) var matchmaker: Matchmaker?
  private var dial: Dial?
  private var requests: [(peer: PeerID, connection: ConnectionID)] = []
  /// The queued events for the owner. Without a matchmaker, events stay in the host's queue.
  private var events = Deque<LobbyEvent>()

  /// Creates a lobby without a matchmaker: the owner answers each request for a seat and opens
  /// connections itself.
  package init(_ host: Host) { self.host = host }

  /// Creates a lobby whose matchmaker starts looking for an opponent at `now`. `host` has one seat
  /// and is in no group. Until `window` has passed, the lobby advertises the status `searching`;
  /// after that, `waiting`.
  package init(
    matching host: Host, window: Duration = .seconds(6), generator: SeededGenerator,
    at now: Instant
  ) {
    self.host = host
    matchmaker = Matchmaker(as: host.local.id, window: window, generator: generator, at: now)
    performActions(at: now)
  }

  package mutating func makeConnectionID() -> ConnectionID { host.makeConnectionID() }
  package var connectionIDs: [ConnectionID] { host.connectionIDs }
}

// MARK: - Input
extension Lobby {
  /// Reports to the matchmaker that a peer was discovered or has changed its advertisement.
  package mutating func handle(_ sighting: Sighting, at now: Instant) {
    matchmaker?.handle(sighting, at: now)
    performActions(at: now)
  }

  /// Reports to the matchmaker that a peer no longer advertises itself.
  package mutating func handleRemoved(_ peer: PeerID, at now: Instant) {
    matchmaker?.handleRemoved(peer, at: now)
    performActions(at: now)
  }

  /// Reports to the host that a stream opened by this side has connected; see
  /// `Host.handleStreamConnected`. Returns false if the connection is no longer needed, in which
  /// case the shell must close the stream.
  package mutating func handleStreamConnected(
    _ id: ConnectionID, key: ConnectionKey = .none, hostKey: PublicKey? = nil,
    isSealed: Bool = false, at now: Instant
  ) -> Bool {
    guard markConnected(id) else { return false }
    let isAdded = host.handleStreamConnected(
      id, key: key, hostKey: hostKey, isSealed: isSealed, at: now)
    handleHostEvents(at: now)
    return isAdded
  }

  /// Connects over datagrams; see `Host.connect`. Returns false if the connection is no longer
  /// needed.
  package mutating func connect(
    _ id: ConnectionID, to routes: [Route], key: ConnectionKey, token: JoinToken? = nil,
    hostKey: PublicKey? = nil, at now: Instant
  ) -> Bool {
    guard markConnected(id) else { return false }
    host.connect(id, to: routes, key: key, token: token, hostKey: hostKey, at: now)
    handleHostEvents(at: now)
    return true
  }

  /// Marks the matchmaker's connection attempt as connected. Returns false if there is a matchmaker
  /// and `id` identifies neither its current attempt nor an existing connection.
  private mutating func markConnected(_ id: ConnectionID) -> Bool {
    guard matchmaker != nil, !host.contains(id) else { return true }
    guard dial?.connection == id else { return false }
    dial?.isConnected = true
    return true
  }

  /// Handles the failure to open a stream for a connection. If the connection is still being
  /// attempted over datagrams, its end is reported later.
  package mutating func handleStreamFailed(_ id: ConnectionID, at now: Instant) {
    host.handleStreamFailed(id, at: now)
    guard let failed = dial, failed.connection == id, !host.contains(id) else { return }
    dial = nil
    matchmaker?.handleDialFailed(failed.peer, at: now)
    performActions(at: now)
  }

  package mutating func receive(_ bytes: Span<UInt8>, on id: ConnectionID, at now: Instant) {
    host.receive(bytes, on: id, at: now)
    handleHostEvents(at: now)
  }

  package mutating func receiveDatagram(
    _ bytes: Span<UInt8>, from source: Route, at now: Instant
  ) {
    host.receiveDatagram(bytes, from: source, at: now)
    handleHostEvents(at: now)
  }

  /// Receives a datagram; see `Host.receiveDatagram`. A lobby with a matchmaker adds no message to
  /// `arrivals`.
  package mutating func receiveDatagram(
    _ bytes: Span<UInt8>, from source: Route, into arrivals: inout Arrivals, at now: Instant
  ) {
    guard matchmaker == nil else { return receiveDatagram(bytes, from: source, at: now) }
    host.receiveDatagram(bytes, from: source, into: &arrivals, at: now)
  }

  package mutating func handleLinkEnd(_ end: LinkEnd, of id: ConnectionID, at now: Instant) {
    host.handleLinkEnd(end, of: id, at: now)
    handleHostEvents(at: now)
  }

  package mutating func handleTimeout(at now: Instant) {
    host.handleTimeout(at: now)
    handleHostEvents(at: now)
    matchmaker?.handleTimeout(at: now)
    performActions(at: now)
  }
}

// MARK: - Commands and output
extension Lobby {
  /// Closes a connection; see `Host.close`.
  package mutating func close(
    _ id: ConnectionID, _ goodbye: Goodbye, as reason: DisconnectReason = .closedLocally,
    at now: Instant
  ) {
    host.close(id, goodbye, as: reason, at: now)
    handleHostEvents(at: now)
  }

  /// Stops matching players, declines all further requests for seats, and closes every connection.
  package mutating func retire(_ goodbye: Goodbye, at now: Instant) {
    matchmaker = nil
    dial = nil
    requests = []
    host.closeSeats()
    for id in host.connectionIDs { close(id, goodbye, at: now) }
  }

  /// Grants the seat that a peer requested on a connection; see `Host.admit`.
  package mutating func admit(_ id: ConnectionID, at now: Instant) {
    host.admit(id, at: now)
    handleHostEvents(at: now)
  }

  package mutating func pollEvent() -> LobbyEvent? {
    if let event = events.popFirst() { return event }
    guard matchmaker == nil, let event = host.pollEvent() else { return nil }
    return .host(event)
  }

  /// Removes and returns the connection of the next event if that is a `messages` event (see
  /// `Host.pollReadable`). A lobby with a matchmaker returns nil.
  package mutating func pollReadable() -> ConnectionID? {
    matchmaker == nil && events.isEmpty ? host.pollReadable() : nil
  }

  /// Handles the events that polling a connection's output produced. Call after polling all output
  /// of a connection that `pollReady` returned.
  package mutating func didFlush(_ id: ConnectionID, at now: Instant) {
    host.didFlush(id, at: now)
    handleHostEvents(at: now)
  }

  /// Handles what `host.transmitDatagrams` has caused. Returns whether connections have output
  /// again, for which it has to be called once more.
  package mutating func didTransmitDatagrams(at now: Instant) -> Bool {
    guard matchmaker != nil else { return false }
    handleHostEvents(at: now)
    return host.hasReady
  }

  /// The next time at which `handleTimeout` must be called, or nil if no timer is armed.
  package var nextTimeout: Instant? { earliest(host.nextTimeout, matchmaker?.nextTimeout) }

  // These members only read, but are mutating because a nonmutating call from another module would
  // copy the whole lobby.
  /// Whether an event or a request to the group's directory waits to be polled.
  package var hasEventsOrRequests: Bool {
    mutating get {
      !events.isEmpty || host.hasDirectoryRequests || (matchmaker == nil && host.hasEvents)
    }
  }
  package mutating func isOpen(_ id: ConnectionID) -> Bool { host.isOpen(id) }
  package mutating func hasMessages(of id: ConnectionID) -> Bool { host.hasMessages(id) }
  package mutating func hasStreamOutput(_ id: ConnectionID) -> Bool { host.hasStreamOutput(id) }

  /// Returns `nextTimeout`, or nil if no timer is armed, without copying the lobby.
  package mutating func findTimeout() -> Instant? {
    guard matchmaker != nil else { return host.nextTimeout }
    return nextTimeout
  }
}

// MARK: - Matchmaking
extension Lobby {
  /// Passes the host's events to the matchmaker, if there is one, and queues them for the owner.
  mutating func handleHostEvents(at now: Instant) {
    while matchmaker != nil, let event = host.pollEvent() {
      switch event {
      case .requested(let id, let info, _):
        requests.append((info.id, id))
        matchmaker?.handleRequest(from: info.id, at: now)
      case .connection(let id, .opened(let info)):
        handleOpened(id, info, at: now)
        events.append(.host(event))
      case .closed(let id, let info, _, let wasOpen):
        handleClosed(id, info, wasOpen, at: now)
        events.append(.host(event))
      case .connection, .adopted, .asked, .wrongCode: events.append(.host(event))
      }
      performActions(at: now)
    }
  }

  private mutating func handleOpened(_ id: ConnectionID, _ info: PeerInfo, at now: Instant) {
    guard let dialed = dial, dialed.connection == id else { return }
    dial = nil
    guard dialed.peer == info.id else {
      // The address now belongs to another peer.
      host.close(id, Goodbye(.left), at: now)
      matchmaker?.handleDialFailed(dialed.peer, at: now)
      return
    }
    matchmaker?.handleDialed(info.id, at: now)
  }

  private mutating func handleClosed(
    _ id: ConnectionID, _ info: PeerInfo?, _ wasOpen: Bool, at now: Instant
  ) {
    if let failed = dial, failed.connection == id {
      dial = nil
      matchmaker?.handleDialFailed(failed.peer, at: now)
      return
    }
    if let index = requests.firstIndex(where: { $0.connection == id }) {
      matchmaker?.handleRequestWithdrawn(by: requests.remove(at: index).peer)
    }
    if wasOpen, let info, matchmaker?.partner == info.id { matchmaker?.handleMatchEnded(at: now) }
  }

  private mutating func performActions(at now: Instant) {
    while let action = matchmaker?.pollAction() {
      switch action {
      case .advertise(let status, let seats):
        events.append(.advertise(status, freeSeats: seats))
      case .dial(let peer):
        let id = makeConnectionID()
        dial = Dial(peer: peer, connection: id)
        events.append(.connect(peer, id))
      case .cancelDial: cancelDial(at: now)
      case .admit(let peer): admit(peer, at: now)
      case .refuse(let peer, let code): refuse(peer, code, at: now)
      }
    }
  }

  private mutating func cancelDial(at now: Instant) {
    guard let cancelled = dial else { return }
    dial = nil
    events.append(.cancelConnect(cancelled.connection))
    if cancelled.isConnected { host.close(cancelled.connection, Goodbye(.left), at: now) }
  }

  private mutating func admit(_ peer: PeerID, at now: Instant) {
    guard let index = requests.firstIndex(where: { $0.peer == peer }) else { return }
    let connection = requests.remove(at: index).connection
    host.admit(connection, at: now)
    // The connection may have ended already; the event that reports it is still in the queue.
    if !host.isOpen(connection) { matchmaker?.handleMatchEnded(at: now) }
    handleHostEvents(at: now)
  }

  private mutating func refuse(_ peer: PeerID, _ code: Goodbye.Code, at now: Instant) {
    let goodbye = Goodbye(code)
    for request in requests where request.peer == peer {
      host.close(request.connection, goodbye, as: goodbye.reason, at: now)
    }
    requests.removeAll { $0.peer == peer }
    handleHostEvents(at: now)
  }
}
