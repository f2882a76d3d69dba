import CaromCore

// What goes out: events, messages, bytes and datagrams.
extension Host {
  package var hasEvents: Bool { !events.isEmpty }

  package mutating func pollEvent() -> HostEvent? { events.popFirst() }

  /// The next message of a link, where it lies; `false` when there is none.
  package mutating func pollMessage(
    on link: ConnectionID, parking: ChannelMask = ChannelMask(),
    _ body: (_ channel: UInt8, _ bytes: Span<UInt8>) -> Void
  ) -> Bool {
    guard let index = index(of: link) else { return pollRemains(link, parking, body) }
    let isTaken = entries[index].connection.pollMessage(parking: parking, body)
    if isTaken { markReady(index) }  // it may owe a credit
    return isTaken
  }

  /// Appends bytes for a stream that holds `queued` bytes already; `false` when there are none now.
  package mutating func pollTransmit(
    on link: ConnectionID, queued: Int, into buffer: inout [UInt8], at now: Instant
  ) -> Bool {
    guard let index = index(of: link) else { return false }
    lend(index)
    defer { lend(index) }
    return entries[index].connection.pollStream(queued: queued, into: &buffer, at: now)
  }

  /// Puts a link's next datagram into `buffer`, and says where it goes; `nil` when there is none.
  package mutating func pollDatagram(
    on link: ConnectionID, into buffer: inout [UInt8], at now: Instant
  ) -> Route? {
    guard let index = index(of: link) else { return nil }
    lend(index)
    defer { lend(index) }
    return entries[index].connection.pollDatagram(into: &buffer, at: now)
  }

  /// What to do with a link's stream, told once.
  package mutating func pollLinkAction(on link: ConnectionID) -> LinkAction? {
    guard let index = index(of: link) else { return nil }
    return entries[index].connection.pollLinkAction()
  }

  /// Moves a connection's events up, and settles who may ask for a seat.
  mutating func collect(_ index: Int, at now: Instant) {
    guard entries[index].connection.hasEvents else { return }
    let link = links[index]
    while let index = self.index(of: link), let event = entries[index].connection.pollEvent() {
      switch event {
      case .requested(let info):
        if hasEnded(entries[index].connection.key) {
          turnAway(index, at: now)
          continue
        }
        if let other = owner(ofKeyAt: index) { return merge(index, of: info, into: other, at: now) }
        ask(link, info, at: now)
      case .joining:
        guard !hasEnded(entries[index].connection.key), let other = owner(ofKeyAt: index) else {
          if member == nil { turnAway(index, at: now) } else { matters.append(.join(link)) }
          continue
        }
        return merge(index, of: nil, into: other, at: now)
      case .opened(let info):
        entries[index].peer = info
        entries[index].wasOpen = true
        events.append(.opened(link, info))
        offerToken(index, at: now)
      case .closed(let reason):
        let entry = entries[index]
        events.append(.closed(link, entry.peer, reason, wasOpen: entry.wasOpen))
        if let id = entry.peer?.id { leave(link, id) }
      case .messages: events.append(.messages(link))
      case .measured(let roundTrip): events.append(.measured(link, roundTrip))
      case .channel(let event): events.append(.channel(link, event))
      case .linkChanged(let kind): events.append(.linkChanged(link, kind))
      case .interrupted: events.append(.interrupted(link))
      case .resumed: events.append(.resumed(link))
      case .reconnect: events.append(.reconnect(link))
      case .invited(let token): events.append(.invited(link, token))
      }
    }
  }

  /// Bytes that a connection's messages hold, both directions.
  package func memory(of link: ConnectionID) -> Int {
    index(of: link).map { entries[$0].connection.channels.heldBytes } ?? 0
  }
}
