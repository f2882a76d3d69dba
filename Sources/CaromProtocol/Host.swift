import CaromCore

/// Every connection of one process: those it accepted, whose seats are counted, and those it
/// asked for itself. A polled machine over stream links; the shell owns the streams.
package struct Host: Sendable {
  /// The most links at a time: ones that have not asked for a seat yet included.
  package static let linkLimit = 256

  private struct Entry: Sendable {
    let id: LinkID
    var connection: Connection
    let isIncoming: Bool
    var peer: PeerInfo?
    var wasOpen = false
    /// The entry whose seat this one is to take when it is admitted.
    var replacing: LinkID?

    /// Whether it takes a seat: it has one, or the owner is still asked.
    var holdsSeat: Bool { isIncoming && peer != nil && !connection.isEnding && replacing == nil }
  }

  package let local: PeerInfo
  private let timing: SessionTiming
  private var entries: [Entry] = []
  private var events = EventQueue<HostEvent>()
  private var lastLink: UInt64 = 0

  /// How many peers may sit here at a time.
  package var seats: Int

  package init(_ local: PeerInfo, seats: Int, timing: SessionTiming = SessionTiming()) {
    self.local = local
    self.seats = seats
    self.timing = timing
  }

  package mutating func makeLink() -> LinkID {
    lastLink += 1
    return LinkID(lastLink)
  }

  /// How many seats nobody holds or has asked for.
  package var freeSeats: Int { max(0, seats - entries.count { $0.holdsSeat }) }

  /// The links, in the order of opening.
  package var links: [LinkID] { entries.map(\.id) }

  package func connection(_ link: LinkID) -> Connection? {
    index(of: link).map { entries[$0].connection }
  }

  /// Whether another host opened the link.
  package func isIncoming(_ link: LinkID) -> Bool {
    index(of: link).map { entries[$0].isIncoming } ?? false
  }

  private func index(of link: LinkID) -> Int? { entries.firstIndex { $0.id == link } }
}

// MARK: - Links
extension Host {
  /// Takes a link that another host opened; `false` when there are too many.
  package mutating func accept(_ link: LinkID, at now: Instant) -> Bool {
    guard entries.count < Self.linkLimit else { return false }
    let connection = Connection.accepting(as: local, timing: timing, at: now)
    entries.append(Entry(id: link, connection: connection, isIncoming: true))
    return true
  }

  /// Takes a link that this host opened, and asks for a seat on it.
  package mutating func request(_ link: LinkID, at now: Instant) {
    let connection = Connection.requesting(as: local, timing: timing, at: now)
    entries.append(Entry(id: link, connection: connection, isIncoming: false))
  }

  package mutating func receive(_ bytes: Span<UInt8>, on link: LinkID, at now: Instant) {
    guard let index = index(of: link) else { return }
    entries[index].connection.receive(bytes, at: now)
    collect(index, at: now)
  }

  package mutating func handleLinkEnd(_ end: LinkEnd, of link: LinkID, at now: Instant) {
    guard let index = index(of: link) else { return }
    entries[index].connection.handleLinkEnd(end, at: now)
    collect(index, at: now)
    entries.removeAll { $0.id == link }
  }

  package mutating func handleTimeout(at now: Instant) {
    for index in entries.indices {
      guard let due = entries[index].connection.nextTimeout, due <= now else { continue }
      entries[index].connection.handleTimeout(at: now)
      collect(index, at: now)
    }
  }

  package var nextTimeout: Instant? {
    entries.reduce(nil) { earliest($0, $1.connection.nextTimeout) }
  }
}

// MARK: - Intents
extension Host {
  /// Answers a request: the peer gets the seat, and whoever kept it warm says goodbye.
  package mutating func admit(_ link: LinkID, at now: Instant) {
    guard let index = index(of: link) else { return }
    if let replaced = entries[index].replacing {
      entries[index].replacing = nil
      close(replaced, Goodbye(.replaced), as: .replaced, at: now)
    }
    entries[index].connection.admit(at: now)
    collect(index, at: now)
  }

  /// Says goodbye on a link: declines a request, or ends a connection.
  package mutating func close(
    _ link: LinkID, _ goodbye: Goodbye, as reason: DisconnectReason = .closedHere, at now: Instant
  ) {
    guard let index = index(of: link) else { return }
    entries[index].connection.close(goodbye, as: reason, at: now)
    collect(index, at: now)
  }

  package mutating func send(
    _ bytes: [UInt8], on channel: UInt16, to link: LinkID
  ) throws(SendError) {
    guard let index = index(of: link) else { throw .notConnected }
    try entries[index].connection.send(bytes, on: channel)
  }

  package mutating func post(
    _ bytes: [UInt8], on channel: UInt16, to link: LinkID
  ) throws(SendError) {
    guard let index = index(of: link) else { throw .notConnected }
    try entries[index].connection.post(bytes, on: channel)
  }
}

// MARK: - What goes out
extension Host {
  package mutating func pollEvent() -> HostEvent? { events.popFirst() }

  package mutating func pollTransmit(on link: LinkID, queued: Int, at now: Instant) -> [UInt8]? {
    guard let index = index(of: link) else { return nil }
    let bytes = entries[index].connection.pollTransmit(queued: queued)
    collect(index, at: now)
    return bytes
  }

  /// What to do with a link, told once; a link that is to be closed is forgotten here.
  package mutating func pollLinkAction(on link: LinkID) -> LinkAction? {
    guard let index = index(of: link) else { return nil }
    let action = entries[index].connection.pollLinkAction()
    if action != nil { entries.remove(at: index) }
    return action
  }

  /// Moves a connection's events up, and settles who may ask for a seat.
  private mutating func collect(_ index: Int, at now: Instant) {
    let link = entries[index].id
    while let event = entries[index].connection.pollEvent() {
      switch event {
      case .requested(let info): settle(info, at: index, now)
      case .opened(let info):
        entries[index].peer = info
        entries[index].wasOpen = true
        events.append(.opened(link, info))
      case .message(let channel, let bytes):
        events.append(.message(link, channel: channel, bytes: bytes))
      case .writable: events.append(.writable(link))
      case .measured(let roundTrip): events.append(.measured(link, roundTrip))
      case .closed(let reason):
        let entry = entries[index]
        events.append(.closed(link, entry.peer, reason, wasOpen: entry.wasOpen))
      }
    }
  }

  private mutating func settle(_ info: PeerInfo, at index: Int, _ now: Instant) {
    var replaced: LinkID?
    if let old = entries.firstIndex(where: { $0.peer?.id == info.id && $0.holdsSeat }) {
      replaced = entries[old].id  // the same peer came back before its old link was found dead
    } else if freeSeats == 0 {
      guard !info.yieldsSeat,
        let yielding = entries.first(where: { entry in
          entry.holdsSeat && entry.peer?.yieldsSeat == true
            && !entries.contains { $0.replacing == entry.id && !$0.connection.isEnding }
        })
      else {
        entries[index].connection.close(Goodbye(.full), as: .full, at: now)
        return
      }
      replaced = yielding.id
    }
    entries[index].peer = info
    entries[index].replacing = replaced
    events.append(.requested(entries[index].id, info, replacing: replaced))
  }
}
