import CaromCore

/// A host and, where players are to be matched, its matchmaker: sightings, links and bytes in;
/// links to open, bytes and events out. The same machine runs on sockets and on the virtual
/// network.
package struct Lobby: Sendable {
  private struct Dial: Sendable {
    let peer: PeerID
    let link: ConnectionID
    var isConnected = false
  }

  package internal(set) var host: Host
  package private(set) var matchmaker: Matchmaker?
  private var dial: Dial?
  private var requests: [(peer: PeerID, link: ConnectionID)] = []
  private var events = Deque<LobbyEvent>()

  /// A lobby whose owner answers each request itself, and opens links as it likes.
  package init(
    _ local: PeerInfo, seats: Int, spectatorSeats: Int = 0,
    timing: SessionTiming = SessionTiming(), secret: HostSecret = HostSecret(low: 0, high: 0),
    member: Int? = nil
  ) {
    host = Host(
      local, seats: seats, spectatorSeats: spectatorSeats, timing: timing, secret: secret,
      member: member)
  }

  /// A lobby with one seat that looks for a player by itself from `now` on.
  package init(
    _ local: PeerInfo, window: Duration = .seconds(6), timing: SessionTiming = SessionTiming(),
    generator: SeededGenerator, secret: HostSecret = HostSecret(low: 0, high: 0),
    at now: Instant
  ) {
    host = Host(local, seats: 1, timing: timing, secret: secret)
    matchmaker = Matchmaker(as: local.id, window: window, generator: generator, at: now)
    carryOut(at: now)
  }

  package mutating func makeLink() -> ConnectionID { host.makeLink() }
  package var links: [ConnectionID] { host.links }
}

// MARK: - What comes in
extension Lobby {
  package mutating func handle(_ sighting: Sighting, at now: Instant) {
    matchmaker?.handle(sighting, at: now)
    carryOut(at: now)
  }

  package mutating func handleGone(_ peer: PeerID, at now: Instant) {
    matchmaker?.handleGone(peer, at: now)
    carryOut(at: now)
  }

  /// A stream that this side opened is open: a seat is asked for on it, or it joins its
  /// connection's other link. One that is wanted no more is `false`: close it.
  package mutating func handleConnected(
    _ link: ConnectionID, key: ConnectionKey = .none, at now: Instant
  ) -> Bool {
    guard isWanted(link) else { return false }
    let isTaken = host.request(link, key: key, at: now)
    collect(at: now)
    return isTaken
  }

  /// Calls a peer over datagrams: what `connect` asked for, or the owner. `false` where it is
  /// wanted no more.
  package mutating func call(
    _ link: ConnectionID, _ ways: [Route], key: ConnectionKey, token: JoinToken? = nil,
    at now: Instant
  ) -> Bool {
    guard isWanted(link) else { return false }
    host.call(link, ways, key: key, token: token, at: now)
    collect(at: now)
    return true
  }

  /// Of a lobby that matches players only the dial under way, and connections that there are.
  private mutating func isWanted(_ link: ConnectionID) -> Bool {
    guard matchmaker != nil, !host.contains(link) else { return true }
    guard dial?.link == link else { return false }
    dial?.isConnected = true
    return true
  }

  /// The link that `connect` asked for could not be opened; a connection that still calls over
  /// datagrams tells its own end.
  package mutating func handleConnectFailed(_ link: ConnectionID, at now: Instant) {
    host.handleStreamFailed(link, at: now)
    guard let failed = dial, failed.link == link, !host.contains(link) else { return }
    dial = nil
    matchmaker?.handleDialFailed(failed.peer, at: now)
    carryOut(at: now)
  }

  package mutating func accept(_ link: ConnectionID, at now: Instant) -> Bool {
    host.accept(link, at: now)
  }

  package mutating func receive(_ bytes: Span<UInt8>, on link: ConnectionID, at now: Instant) {
    host.receive(bytes, on: link, at: now)
    collect(at: now)
  }

  package mutating func receiveDatagram(
    _ bytes: Span<UInt8>, from source: Route, at now: Instant
  ) {
    host.receiveDatagram(bytes, from: source, at: now)
    collect(at: now)
  }

  package mutating func handleLinkEnd(_ end: LinkEnd, of link: ConnectionID, at now: Instant) {
    host.handleLinkEnd(end, of: link, at: now)
    collect(at: now)
  }

  package mutating func handleTimeout(at now: Instant) {
    host.handleTimeout(at: now)
    collect(at: now)
    matchmaker?.handleTimeout(at: now)
    carryOut(at: now)
  }
}

// MARK: - Intents and what goes out
extension Lobby {
  package mutating func close(
    _ link: ConnectionID, _ goodbye: Goodbye, as reason: DisconnectReason = .closedLocally,
    at now: Instant
  ) {
    host.close(link, goodbye, as: reason, at: now)
    collect(at: now)
  }

  /// Matches and seats nobody any more, and says goodbye to everybody.
  package mutating func retire(_ goodbye: Goodbye, at now: Instant) {
    matchmaker = nil
    dial = nil
    requests = []
    host.closeSeats()
    for link in host.links { close(link, goodbye, at: now) }
  }

  /// Answers a request that was passed on: the seat is the peer's.
  package mutating func admit(_ link: ConnectionID, at now: Instant) {
    host.admit(link, at: now)
    collect(at: now)
  }

  @discardableResult
  package mutating func send(
    _ bytes: Span<UInt8>, on channel: UInt8, _ options: SendOptions, to link: ConnectionID,
    at now: Instant
  ) throws(SendError) -> UInt64? {
    try host.send(bytes, on: channel, options, to: link, at: now)
  }

  package var hasEvents: Bool { !events.isEmpty }

  package mutating func pollEvent() -> LobbyEvent? { events.popFirst() }

  /// The next link with something to transmit or to do, told once until it has something again.
  package mutating func pollReady() -> ConnectionID? { host.pollReady() }

  /// The link below had no room for everything: it is ready again, if it has something.
  package mutating func remainsReady(_ link: ConnectionID) { host.remainsReady(link) }

  /// Appends bytes for a link that holds `queued` bytes already; `false` when there are none now.
  package mutating func pollTransmit(
    on link: ConnectionID, queued: Int, into buffer: inout [UInt8], at now: Instant
  ) -> Bool {
    host.pollTransmit(on: link, queued: queued, into: &buffer, at: now)
  }

  package mutating func pollLinkAction(on link: ConnectionID) -> LinkAction? {
    host.pollLinkAction(on: link)
  }

  /// Puts a link's next datagram into `buffer`, and says where it goes; `nil` when there is none.
  package mutating func pollDatagram(
    on link: ConnectionID, into buffer: inout [UInt8], at now: Instant
  ) -> Route? {
    host.pollDatagram(on: link, into: &buffer, at: now)
  }

  /// The next answer to a stranger.
  package mutating func pollAnswer() -> Answer? {
    host.pollAnswer()
  }

  /// Everything that a link had was polled.
  package mutating func didFlush(_ link: ConnectionID, at now: Instant) {
    host.didFlush(link, at: now)
    collect(at: now)
  }

  /// The next message of a link, where it lies; `false` when there is none.
  package mutating func pollMessage(
    on link: ConnectionID, parking: ChannelMask = ChannelMask(),
    _ body: (_ channel: UInt8, _ bytes: Span<UInt8>) -> Void
  ) -> Bool { host.pollMessage(on: link, parking: parking, body) }

  /// Nobody takes the messages that a link which is gone has left.
  package mutating func discardMessages(of link: ConnectionID) { host.discardRemains(link) }

  package var nextTimeout: Instant? { earliest(host.nextTimeout, matchmaker?.nextTimeout) }

  // Facts of one connection, asked in place.
  package mutating func isOpen(_ link: ConnectionID) -> Bool { host.isOpen(link) }
  package mutating func hasMessages(of link: ConnectionID) -> Bool { host.hasMessages(link) }
  package mutating func hasOutput(_ link: ConnectionID) -> Bool { host.hasOutput(link) }

  /// `nextTimeout`, asked in place: from another module a getter copies the whole lobby.
  package mutating func findTimeout() -> Instant? {
    guard matchmaker != nil else { return host.nextTimeout }
    return nextTimeout
  }
}

// MARK: - Inside
extension Lobby {
  /// Shows the host's events to the matchmaker and passes them on.
  mutating func collect(at now: Instant) {
    while let event = host.pollEvent() {
      switch event {
      case .requested where matchmaker == nil: events.append(.host(event))
      case .requested(let link, let info, _):
        requests.append((info.id, link))
        matchmaker?.handleRequest(from: info.id, at: now)
      case .opened(let link, let info):
        handleOpened(link, info, at: now)
        events.append(.host(event))
      case .closed(let link, let info, _, let wasOpen):
        handleClosed(link, info, wasOpen, at: now)
        events.append(.host(event))
      default: events.append(.host(event))
      }
      carryOut(at: now)
    }
  }

  private mutating func handleOpened(_ link: ConnectionID, _ info: PeerInfo, at now: Instant) {
    guard let dialed = dial, dialed.link == link else { return }
    dial = nil
    guard dialed.peer == info.id else {
      // Somebody else lives at that address now.
      host.close(link, Goodbye(.left), at: now)
      matchmaker?.handleDialFailed(dialed.peer, at: now)
      return
    }
    matchmaker?.handleDialed(info.id, at: now)
  }

  private mutating func handleClosed(
    _ link: ConnectionID, _ info: PeerInfo?, _ wasOpen: Bool, at now: Instant
  ) {
    if let failed = dial, failed.link == link {
      dial = nil
      matchmaker?.handleDialFailed(failed.peer, at: now)
      return
    }
    if let index = requests.firstIndex(where: { $0.link == link }) {
      matchmaker?.handleRequestGone(from: requests.remove(at: index).peer)
    }
    if wasOpen, let info, matchmaker?.partner == info.id { matchmaker?.handleMatchEnded(at: now) }
  }

  /// Does what the matchmaker wants.
  private mutating func carryOut(at now: Instant) {
    while let action = matchmaker?.pollAction() {
      switch action {
      case .advertise(let status, let seats):
        events.append(.advertise(status, freeSeats: seats))
      case .dial(let peer):
        let link = makeLink()
        dial = Dial(peer: peer, link: link)
        events.append(.connect(peer, link))
      case .cancelDial: cancelDial(at: now)
      case .admit(let peer): admit(peer, at: now)
      case .refuse(let peer, let code): refuse(peer, code, at: now)
      }
    }
  }

  private mutating func cancelDial(at now: Instant) {
    guard let cancelled = dial else { return }
    dial = nil
    events.append(.cancelConnect(cancelled.link))
    if cancelled.isConnected { host.close(cancelled.link, Goodbye(.left), at: now) }
  }

  private mutating func admit(_ peer: PeerID, at now: Instant) {
    guard let index = requests.firstIndex(where: { $0.peer == peer }) else { return }
    host.admit(requests.remove(at: index).link, at: now)
    collect(at: now)
  }

  private mutating func refuse(_ peer: PeerID, _ code: Goodbye.Code, at now: Instant) {
    let reason: DisconnectReason = code == .busy ? .busy : .full
    for request in requests where request.peer == peer {
      host.close(request.link, Goodbye(code), as: reason, at: now)
    }
    requests.removeAll { $0.peer == peer }
    collect(at: now)
  }
}
