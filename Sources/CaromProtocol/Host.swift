import CaromCore

/// Every connection of one process: those it accepted, whose seats are counted, and those it
/// asked for itself. A polled machine over stream links; the shell owns the streams.
package struct Host: Sendable {
  /// The most links at a time: ones that have not asked for a seat yet included. A core keeps up
  /// with some thousand players at 60 Hz, and idle strangers cost 2 KiB each.
  package static let linkLimit = 4096

  /// A link stands in `deadlines` once more each time that its deadline comes nearer, which is
  /// rare; when there are more than this for each link, those of links that are gone are dropped.
  private static let deadlinesPerLink = 8

  private struct Entry: Sendable {
    let id: LinkID
    var connection: Connection
    let isIncoming: Bool
    var peer: PeerInfo?
    var wasOpen = false
    /// Whether it stands in `ready`.
    var isReady = false
    /// Where it stands in `deadlines`: at its connection's next timeout, or before it.
    var deadline: Instant?
    /// The entry whose seat this one is to take when it is admitted.
    var replacing: LinkID?

    /// Whether it takes a seat: it has one, or the owner is still asked.
    var holdsSeat: Bool { isIncoming && peer != nil && !connection.isEnding && replacing == nil }
  }

  package let local: PeerInfo
  private let timing: SessionTiming
  /// In the order of their links.
  private var entries: [Entry] = []
  /// The links of `entries` by themselves: a search reads a few bytes of each.
  package private(set) var links: [LinkID] = []
  private var events = EventQueue<HostEvent>()
  private var ready = EventQueue<LinkID>()
  private var deadlines = DeadlineQueue<LinkID>()
  private var lastLink: UInt64 = 0

  /// When `handleTimeout` wants to be called.
  package private(set) var nextTimeout: Instant?

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

  package func connection(_ link: LinkID) -> Connection? {
    index(of: link).map { entries[$0].connection }
  }

  /// Whether another host opened the link.
  package func isIncoming(_ link: LinkID) -> Bool {
    index(of: link).map { entries[$0].isIncoming } ?? false
  }

  private func index(of link: LinkID) -> Int? {
    let index = insertionIndex(of: link)
    return index < links.count && links[index] == link ? index : nil
  }

  /// The place of the first link that is not before `link`.
  private func insertionIndex(of link: LinkID) -> Int {
    var low = 0
    var high = links.count
    while low < high {
      let middle = (low + high) / 2
      if links[middle] < link { low = middle + 1 } else { high = middle }
    }
    return low
  }
}

// MARK: - Links
extension Host {
  /// Takes a link that another host opened; `false` when there are too many.
  package mutating func accept(_ link: LinkID, at now: Instant) -> Bool {
    guard entries.count < Self.linkLimit else { return false }
    let connection = Connection.accepting(as: local, timing: timing, at: now)
    insert(Entry(id: link, connection: connection, isIncoming: true), at: now)
    return true
  }

  /// Takes a link that this host opened, and asks for a seat on it.
  package mutating func request(_ link: LinkID, at now: Instant) {
    let connection = Connection.requesting(as: local, timing: timing, at: now)
    insert(Entry(id: link, connection: connection, isIncoming: false), at: now)
  }

  /// A link comes after all others, but for one whose opening took longer than the next one's.
  private mutating func insert(_ entry: Entry, at now: Instant) {
    let index = insertionIndex(of: entry.id)
    precondition(index == links.count || links[index] != entry.id, "a link is taken once")
    entries.insert(entry, at: index)
    links.insert(entry.id, at: index)
    settle(index, at: now)
  }

  private mutating func remove(_ index: Int) {
    let link = links.remove(at: index)
    let entry = entries.remove(at: index)
    if entry.isReady { ready.removeAll { $0 == link } }
    if deadlines.count > Self.deadlinesPerLink * (links.count + 16) {
      var kept = deadlines
      kept.filter { self.index(of: $0) != nil }
      deadlines = kept
    }
    if deadlines.firstElement == link || deadlines.count == 0 { findNextTimeout() }
  }

  package mutating func receive(_ bytes: Span<UInt8>, on link: LinkID, at now: Instant) {
    guard let index = index(of: link) else { return }
    entries[index].connection.receive(bytes, at: now)
    settle(index, at: now)
  }

  package mutating func handleLinkEnd(_ end: LinkEnd, of link: LinkID, at now: Instant) {
    guard let index = index(of: link) else { return }
    entries[index].connection.handleLinkEnd(end, at: now)
    settle(index, at: now)
    // What it told may have ended others.
    if let index = self.index(of: link) { remove(index) }
  }

  /// Time has come to `nextTimeout`: every connection that is due, in the order of the links.
  package mutating func handleTimeout(at now: Instant) {
    var due: [LinkID] = []
    while let link = deadlines.popFirst(until: now) {
      guard let index = index(of: link), entries[index].deadline != nil else { continue }
      entries[index].deadline = nil
      due.append(link)
    }
    for link in due.sorted() {
      guard let index = index(of: link) else { continue }
      entries[index].connection.handleTimeout(at: now)
      settle(index, at: now)
    }
    findNextTimeout()
  }
}

// MARK: - What is next
extension Host {
  /// After each touch of a connection: its events, its output and its deadline.
  private mutating func settle(_ index: Int, at now: Instant) {
    let link = links[index]
    collect(index, at: now)
    markReady(index)
    guard let due = entries[index].connection.nextTimeout else {
      if deadlines.firstElement == link { findNextTimeout() }
      return
    }
    if let known = entries[index].deadline, known <= due {
      // Later than it stands there: that is put right when it comes to the front.
      if known < due, deadlines.firstElement == link { findNextTimeout() }
      return
    }
    entries[index].deadline = due
    deadlines.insert(link, at: due)
    findNextTimeout()
  }

  /// Brings the front of `deadlines` up to date, so that it is the earliest of all.
  private mutating func findNextTimeout() {
    while let first = deadlines.first, let link = deadlines.firstElement {
      let index = index(of: link)
      let due = index.flatMap { entries[$0].connection.nextTimeout }
      if let index, entries[index].deadline == first, due == first {
        nextTimeout = first
        return
      }
      _ = deadlines.popFirst(until: first)
      guard let index, entries[index].deadline == first else { continue }
      entries[index].deadline = due
      if let due { deadlines.insert(link, at: due) }
    }
    nextTimeout = nil
  }

  private mutating func markReady(_ index: Int) {
    guard !entries[index].isReady, entries[index].connection.hasOutput else { return }
    entries[index].isReady = true
    ready.append(links[index])
  }

  /// The next link with something to transmit or to do, told once until it has something again.
  package mutating func pollReady() -> LinkID? {
    guard let link = ready.popFirst() else { return nil }
    if let index = index(of: link) { entries[index].isReady = false }
    return link
  }

  /// The link below had no room for everything: it is ready again, if it has something.
  package mutating func remainsReady(_ link: LinkID) {
    if let index = index(of: link) { markReady(index) }
  }

  package func hasOutput(_ link: LinkID) -> Bool {
    index(of: link).map { entries[$0].connection.hasOutput } ?? false
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
    settle(index, at: now)
  }

  /// Says goodbye on a link: declines a request, or ends a connection.
  package mutating func close(
    _ link: LinkID, _ goodbye: Goodbye, as reason: DisconnectReason = .closedHere, at now: Instant
  ) {
    guard let index = index(of: link) else { return }
    entries[index].connection.close(goodbye, as: reason, at: now)
    settle(index, at: now)
  }

  package mutating func send(
    _ bytes: Span<UInt8>, on channel: UInt16, to link: LinkID
  ) throws(SendError) {
    guard let index = index(of: link) else { throw .notConnected }
    try entries[index].connection.send(bytes, on: channel)
    markReady(index)
  }

  package mutating func post(
    _ bytes: Span<UInt8>, on channel: UInt16, to link: LinkID
  ) throws(SendError) {
    guard let index = index(of: link) else { throw .notConnected }
    try entries[index].connection.post(bytes, on: channel)
    markReady(index)
  }
}

// MARK: - What goes out
extension Host {
  package mutating func pollEvent() -> HostEvent? { events.popFirst() }

  /// Appends bytes for a link that holds `queued` bytes already; `false` when there are none now.
  package mutating func pollTransmit(
    on link: LinkID, queued: Int, into buffer: inout [UInt8], at now: Instant
  ) -> Bool {
    guard let index = index(of: link) else { return false }
    let hasMore = entries[index].connection.pollTransmit(queued: queued, into: &buffer)
    collect(index, at: now)
    return hasMore
  }

  /// What to do with a link, told once; a link that is to be closed is forgotten here.
  package mutating func pollLinkAction(on link: LinkID) -> LinkAction? {
    guard let index = index(of: link) else { return nil }
    let action = entries[index].connection.pollLinkAction()
    if action != nil { remove(index) }
    return action
  }

  /// Moves a connection's events up, and settles who may ask for a seat.
  private mutating func collect(_ index: Int, at now: Instant) {
    let link = links[index]
    while let event = entries[index].connection.pollEvent() {
      switch event {
      case .requested(let info): seat(info, at: index, now)
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

  private mutating func seat(_ info: PeerInfo, at index: Int, _ now: Instant) {
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
