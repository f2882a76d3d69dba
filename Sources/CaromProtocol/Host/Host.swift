import CaromCore

/// Every connection of one process: those it accepted, whose seats are counted, and those it
/// asked for itself. A polled machine; the shell owns the streams and the datagram sockets.
///
/// A `ConnectionID` names a connection, and its stream, if it has one.
package struct Host: Sendable {
  /// The most links at a time: ones that have not asked for a seat yet included. A core keeps up
  /// with some thousand players at 60 Hz, and idle strangers cost 2 KiB each.
  package static let linkLimit = 4096

  struct Entry: Sendable {
    let id: ConnectionID
    var connection: Connection
    let isIncoming: Bool
    var peer: PeerInfo?
    var wasOpen = false
    /// Whether it stands in `ready`.
    var isReady = false
    /// Where its datagrams come from, as `paths` has it, and how often that had changed.
    var endpoints: [Endpoint] = []
    var moves: UInt32 = 0
    /// Whether its stream came to another host of the group first.
    var wasHanded = false
    /// Whether its peer has a token for the next time.
    var hasToken = false

    /// Who sends the datagrams that come on its path.
    var senderOfItsPeer: PathRole { isIncoming ? .initiator : .responder }
  }

  package let local: PeerInfo
  let timing: SessionTiming
  /// In the order of their links.
  var entries: [Entry] = []
  /// The links of `entries` by themselves: a search reads a few bytes of each.
  package private(set) var links: [ConnectionID] = []
  var events = Deque<HostEvent>()
  private var ready = Deque<ConnectionID>()
  /// When the connections of `entries` want to be called, nanoseconds, as each said after it was
  /// touched last; `.max` for never. The least is looked for once a wake-up, which takes less than
  /// to keep them in order at every packet.
  private var dues: [Int64] = []
  private var scratch = Scratch()
  /// Links whose time has come.
  private var due: [ConnectionID] = []
  private var lastLink: UInt64
  var paths: PathTable
  var keys: [ConnectionKey: ConnectionID] = [:]
  /// Of connections that were open, the oldest first.
  var endedKeys: [ConnectionKey] = []
  let secret: HostSecret
  /// The tokens of a host by itself.
  var tokens = TokenBook()
  /// Answers to those who are not known, with where they go.
  var answers = Deque<Answer>()
  /// Messages of connections that are gone, which the owner has not taken yet.
  var remains: [(link: ConnectionID, channels: ChannelSet)] = []

  /// Its place among the hosts that share a port; `nil` for one that has its port for itself.
  let member: Int?
  var matters = Deque<HostMatter>()
  var mail = Deque<(mail: HostMail, member: Int)>()
  /// Addresses of callers whose connections are other hosts'. Looked up, never gone through.
  var relays: [Endpoint: Int] = [:]

  /// When `handleTimeout` wants to be called.
  @inline(__always) package var nextTimeout: Instant? {
    var least = Int64.max
    for due in dues { least = min(least, due) }
    return least == .max ? nil : Instant(nanoseconds: least)
  }

  /// Who sits here; in a group that is the directory's to know, and only the numbers count.
  var seating: Seating

  /// `secret` is what answers to strangers are made of: from the system's generator. Hosts that
  /// share a port have the same, and a `member` each.
  package init(
    _ local: PeerInfo, seats: Int, spectatorSeats: Int = 0,
    timing: SessionTiming = SessionTiming(),
    secret: HostSecret = HostSecret(low: 0, high: 0), member: Int? = nil
  ) {
    self.member = member
    lastLink = ConnectionID.beginning(of: member ?? 0).number
    self.local = local
    seating = Seating(seats: seats, spectatorSeats: spectatorSeats)
    self.timing = timing
    self.secret = secret
    paths = PathTable(secret: secret)
  }

  package mutating func makeLink() -> ConnectionID {
    lastLink += 1
    return ConnectionID(lastLink)
  }

  /// Whether every connection has ended, though the last words of some may be said again.
  package var isQuiet: Bool {
    entries.indices.allSatisfy {
      entries[$0].connection.isLingering && !entries[$0].isReady
    }
  }

  package func connection(_ link: ConnectionID) -> Connection? {
    index(of: link).map { entries[$0].connection }
  }

  /// Whether another host opened the link.
  package func isIncoming(_ link: ConnectionID) -> Bool {
    index(of: link).map { entries[$0].isIncoming } ?? false
  }

  @inline(__always) func index(of link: ConnectionID) -> Int? { links.place(of: link) }
}

extension [ConnectionID] {
  /// Where `link` stands in an array that is in order.
  fileprivate func place(of link: ConnectionID) -> Int? {
    let index = insertionPlace(of: link)
    return index < count && self[index] == link ? index : nil
  }

  /// The place of the first link that is not before `link`.
  fileprivate func insertionPlace(of link: ConnectionID) -> Int {
    var low = 0
    var high = count
    while low < high {
      let middle = (low + high) / 2
      if self[middle] < link { low = middle + 1 } else { high = middle }
    }
    return low
  }
}

// MARK: - Links
extension Host {
  /// Takes a link that another host opened; `false` when there are too many.
  package mutating func accept(_ link: ConnectionID, at now: Instant) -> Bool {
    guard entries.count < Self.linkLimit else { return false }
    let connection = Connection.accepting(as: local, timing: timing, at: now)
    insert(Entry(id: link, connection: connection, isIncoming: true), at: now)
    return true
  }

  /// Takes a stream that this host opened, and asks for a seat on it; one of a connection that
  /// has another link already joins that. `false` where it ends, and has no use for it any more.
  @discardableResult
  package mutating func request(
    _ link: ConnectionID, key: ConnectionKey = .none, at now: Instant
  ) -> Bool {
    if let index = index(of: link) {
      let isTaken = entries[index].connection.addStream(at: now)
      settle(index, at: now)
      return isTaken
    }
    let connection = Connection.requesting(as: local, timing: timing, key: key, at: now)
    insert(Entry(id: link, connection: connection, isIncoming: false), at: now)
    return true
  }

  /// Calls the first of `ways` that answers over datagrams, and asks for a seat there; the
  /// connection may have a stream already. Endpoints that another connection of this host calls
  /// are left to it.
  package mutating func call(
    _ link: ConnectionID, _ ways: [Route], key: ConnectionKey, token: JoinToken? = nil,
    at now: Instant
  ) {
    let free = ways.filter {
      let owner = paths[PathAddress(endpoint: $0.endpoint, sender: .responder)]
      return owner == nil || owner == link
    }
    if index(of: link) == nil {
      let connection = Connection.calling(as: local, timing: timing, key: key, at: now)
      insert(Entry(id: link, connection: connection, isIncoming: false), at: now)
    }
    guard let index = index(of: link) else { return }
    entries[index].connection.call(free, token: token, at: now)
    settle(index, at: now)
  }

  /// A link comes after all others, but for one whose opening took longer than the next one's.
  mutating func insert(_ entry: Entry, at now: Instant) {
    let index = links.insertionPlace(of: entry.id)
    precondition(index == links.count || links[index] != entry.id, "a link is taken once")
    entries.insert(entry, at: index)
    links.insert(entry.id, at: index)
    dues.insert(.max, at: index)
    settle(index, at: now)
  }

  mutating func remove(_ index: Int) {
    let link = links.remove(at: index)
    let entry = entries.remove(at: index)
    dues.remove(at: index)
    keepRemains(of: entry)
    noteEnd(of: entry)
    for endpoint in entry.endpoints { forget(endpoint, of: entry) }
    if keys[entry.connection.key] == link { keys[entry.connection.key] = nil }
    if member != nil, entry.isIncoming, entry.connection.key != .none {
      matters.append(.release(entry.connection.key, link, wasOpen: entry.wasOpen))
    }
    if entry.isReady { ready.removeAll { $0 == link } }
  }

  /// A stream that was to be a link's cannot be opened.
  package mutating func handleStreamFailed(_ link: ConnectionID, at now: Instant) {
    guard let index = index(of: link) else { return }
    entries[index].connection.handleStreamFailed(at: now)
    settle(index, at: now)
  }

  package mutating func receive(_ bytes: Span<UInt8>, on link: ConnectionID, at now: Instant) {
    guard let index = index(of: link) else { return }
    lend(index)
    entries[index].connection.receive(bytes, at: now)
    lend(index)
    settle(index, at: now)
  }

  package mutating func handleLinkEnd(_ end: LinkEnd, of link: ConnectionID, at now: Instant) {
    guard let index = index(of: link) else { return }
    lend(index)
    entries[index].connection.handleLinkEnd(end, at: now)
    lend(index)
    settle(index, at: now)
    removeIfClosed(link)  // by its link: what it told may have ended others
  }

  private mutating func removeIfClosed(_ link: ConnectionID) {
    if let index = index(of: link), entries[index].connection.isClosed { remove(index) }
  }

  /// Time has come to `nextTimeout`: every connection that is due, in the order of the links.
  package mutating func handleTimeout(at now: Instant) {
    due.removeAll(keepingCapacity: true)
    for index in dues.indices where dues[index] <= now.nanoseconds {
      dues[index] = .max
      due.append(links[index])
    }
    for position in due.indices {
      guard let index = index(of: due[position]) else { continue }
      lend(index)
      entries[index].connection.handleTimeout(at: now)
      lend(index)
      settle(index, at: now)
    }
  }
}

// MARK: - What is next
extension Host {
  /// Lends the scratch to a connection, and takes it back.
  @inline(__always) mutating func lend(_ index: Int) {
    swap(&entries[index].connection.scratch, &scratch)
  }

  /// After each touch of a connection: its events, its addresses and its deadline; whoever was
  /// touched may have something to send.
  mutating func settle(_ index: Int, at now: Instant) {
    let link = links[index]
    collect(index, at: now)
    // What it told may have ended it, or given its stream to another.
    guard let index = self.index(of: link) else { return }
    markReady(index)
    update(index, at: now)
  }

  /// After a data packet, the commonest touch: who has nothing to say is not asked for it.
  mutating func settleData(_ index: Int, at now: Instant) {
    let link = links[index]
    collect(index, at: now)
    guard let index = self.index(of: link) else { return }
    if entries[index].connection.mayTransmit(at: now) { markReady(index) }
    update(index, at: now)
  }

  /// Notes where its datagrams come from and when it wants to be called.
  @inline(__always) mutating func update(_ index: Int, at now: Instant) {
    if entries[index].connection.moves != entries[index].moves {
      notePaths(index, at: now)
    }
    dues[index] = entries[index].connection.findTimeout()?.nanoseconds ?? .max
  }

  mutating func markReady(_ index: Int) {
    guard !entries[index].isReady else { return }
    entries[index].isReady = true
    ready.append(links[index])
  }

  /// The next link that was touched and may have something to transmit or to do; when that is
  /// polled, `didFlush` follows.
  package mutating func pollReady() -> ConnectionID? {
    guard let link = ready.popFirst() else { return nil }
    if let index = index(of: link) { entries[index].isReady = false }
    return link
  }

  /// Everything that a link had was polled: what it told meanwhile, and when it wants to be called.
  package mutating func didFlush(_ link: ConnectionID, at now: Instant) {
    guard let index = index(of: link) else { return }
    collect(index, at: now)
    guard let index = self.index(of: link) else { return }
    if entries[index].connection.isClosed { remove(index) } else { update(index, at: now) }
  }

  /// The stream below had no room for everything: it is ready again, if it has something.
  package mutating func remainsReady(_ link: ConnectionID) {
    if let index = index(of: link), entries[index].connection.hasStreamOutput { markReady(index) }
  }

  /// Whether its stream has something to carry or to do.
  @inline(__always) package func hasOutput(_ link: ConnectionID) -> Bool {
    index(of: link).map { entries[$0].connection.hasStreamOutput } ?? false
  }
}

// MARK: - Intents
extension Host {
  /// Says goodbye on a link: declines a request, or ends a connection.
  package mutating func close(
    _ link: ConnectionID, _ goodbye: Goodbye, as reason: DisconnectReason = .closedLocally,
    at now: Instant
  ) {
    guard let index = index(of: link) else { return }
    entries[index].connection.close(goodbye, as: reason, at: now)
    settle(index, at: now)
  }

  /// Queues or offers a message; returns its number where a receipt is wanted.
  @discardableResult
  package mutating func send(
    _ bytes: Span<UInt8>, on channel: UInt8, _ options: SendOptions, to link: ConnectionID,
    at now: Instant
  ) throws(SendError) -> UInt64? {
    guard let index = index(of: link) else { throw .notConnected }
    let number = try entries[index].connection.send(bytes, on: channel, options, at: now)
    markReady(index)
    return number
  }
}
