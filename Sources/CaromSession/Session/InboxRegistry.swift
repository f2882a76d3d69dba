import CaromCore
import CaromProtocol
import CaromTransport

/// The inboxes of one session, by channel: inboxes for the messages of channels and for the
/// requests of exchanges. The session's hubs fill the inboxes, and readers on any thread take
/// elements from them.
final class InboxRegistry: Sendable {
  private struct State: Sendable {
    /// An `Inbox` or a `RequestQueue` for each channel that has a reader.
    var entries: [UInt8: any Sendable] = [:]
    /// The closures that end the inboxes and request queues in `entries`, and those that were
    /// passed to `whenEnded`, in the order in which they were added, each with a number.
    var finishers: [(number: Int, finish: @Sendable () -> Void)] = []
    var nextFinisher = 0
    var hubs: [SessionHub] = []
    /// The connections of the peers that are connected now.
    var connected: Set<ConnectionID> = []
    var hasEnded = false

    mutating func addFinisher(_ finish: @escaping @Sendable () -> Void) -> Int {
      defer { nextFinisher += 1 }
      finishers.append((nextFinisher, finish))
      return nextFinisher
    }
  }

  private let state = Locked(State())

  /// Sets the hubs that fill the inboxes. Called before anything is read.
  func setHubs(_ hubs: [SessionHub]) { state.withLock { $0.hubs = hubs } }

  /// The connections of the peers that are connected now, on all loops.
  var connected: Set<ConnectionID> { state.withLock { $0.connected } }

  func add(_ connection: ConnectionID) { state.withLock { _ = $0.connected.insert(connection) } }

  func remove(_ connection: ConnectionID) { state.withLock { _ = $0.connected.remove(connection) } }

  /// Ends and releases all inboxes. A reader can still read the remaining elements of an inbox to
  /// which it has a reference. The release breaks a reference cycle: messages refer to peers, peers
  /// to hubs, and hubs to this registry.
  func end() {
    let finishers = state.withLock { state in
      state.hasEnded = true
      state.hubs = []
      state.connected = []
      state.entries = [:]
      defer { state.finishers = [] }
      return state.finishers
    }
    for finisher in finishers { finisher.finish() }
  }

  /// Runs `body` when the session has ended, or immediately if it has already ended. Returns the
  /// number with which `forget` releases `body` earlier; nil if it has run.
  @discardableResult
  func whenEnded(_ body: @escaping @Sendable () -> Void) -> Int? {
    let number = state.withLock { $0.hasEnded ? nil : $0.addFinisher(body) }
    if number == nil { body() }
    return number
  }

  /// Releases a closure that was passed to `whenEnded`.
  func forget(_ number: Int) {
    state.withLock { state in state.finishers.removeAll { $0.number == number } }
  }

  /// The number of closures that wait for the end of the session.
  var finisherCount: Int { state.withLock { $0.finishers.count } }

  /// Runs `body` with each hub, on its loop.
  private func forEachHub(_ body: @escaping @Sendable (isolated SessionHub) -> Void) {
    for hub in state.withLock({ $0.hubs }) { hub.loop.post { hub.assumeIsolated { body($0) } } }
  }

  /// Returns the entry of a channel, creating it with `make` if there is none. Traps with the
  /// message `conflict` if the channel is in use with another type.
  private func entry<Entry: Sendable>(
    _ id: UInt8, _ conflict: @autoclosure () -> String, make: () -> Entry,
    finish: @escaping @Sendable (Entry) -> Void
  ) -> (Entry, isNew: Bool) {
    state.withLock { state in
      if let known = state.entries[id] {
        guard let entry = known as? Entry else { preconditionFailure(conflict()) }
        return (entry, false)
      }
      let entry = make()
      if state.hasEnded {
        finish(entry)
        return (entry, false)
      }
      state.entries[id] = entry
      _ = state.addFinisher { finish(entry) }
      return (entry, true)
    }
  }
}

// MARK: - Channels
extension InboxRegistry {
  /// Returns the inbox of a channel's messages. The first call for a channel makes the hubs fill
  /// the inbox.
  func inbox<Message>(for channel: MessageChannel<Message>) -> Inbox<Received<Message>> {
    let id = channel.id
    let (inbox, isNew) = entry(id, "channel \(id) is already read as another type of message") {
      self.makeInbox(for: channel) { [weak self] in self?.resume(id) }
    } finish: {
      $0.finish()
    }
    if isNew { forEachHub { $0.setReader(Self.reader(of: inbox, channel), of: id) } }
    return inbox
  }

  /// Returns the inboxes of a channel's messages, one for each of several matches. The first call
  /// for a channel makes the hubs fill the inboxes.
  func inboxes<Message>(
    for channel: MessageChannel<Message>, of matches: ConcurrentMatches
  ) -> MatchInboxes<Message> {
    let id = channel.id
    let (inboxes, isNew) = entry(id, "channel \(id) is already read without regard to matches") {
      MatchInboxes<Message>(of: matches) { onRoom in
        self.makeInbox(for: channel, onRoom: onRoom)
      } onRoom: { [weak self] in
        self?.resume(id)
      }
    } finish: {
      $0.finish()
    }
    precondition(inboxes.matches === matches, "a session has one ConcurrentMatches")
    if isNew { forEachHub { $0.setReader(inboxes.makeReader(of: channel), of: id) } }
    return inboxes
  }

  private func resume(_ channel: UInt8) { forEachHub { $0.resume(channel) } }

  private func makeInbox<Message>(
    for channel: MessageChannel<Message>, onRoom: @escaping @Sendable () -> Void
  ) -> Inbox<Received<Message>> {
    let overflow: Inbox<Received<Message>>.Overflow =
      switch channel.delivery {
      case .reliableOrdered, .reliableUnordered: .pause
      case .unreliable: .dropOldest
      case .reliableSequenced, .unreliableSequenced: .replace { $0.peer == $1.peer }
      }
    return Inbox(
      limit: UnreadLimits.messages, byteLimit: UnreadLimits.bytes, overflow: overflow,
      onRoom: onRoom)
  }

  private static func reader<Message>(
    of inbox: Inbox<Received<Message>>, _ channel: MessageChannel<Message>
  ) -> SessionHub.Reader {
    let batch = InboxBatch(for: inbox)
    return SessionHub.Reader { peer, bytes in
      guard let message = try? channel.coding.decode(bytes) else { return .malformed }
      let received = Received(peer: peer, message: message, arrival: peer.hub.loop.now)
      return batch.append(received, bytes: bytes.count) ? .accepted : .acceptedAndFull
    } flush: {
      batch.flush()
    } finish: {
      inbox.finish()
    }
  }
}

// MARK: - Exchanges
extension InboxRegistry {
  /// Returns the request queue of an exchange. The first call for an exchange makes the hubs fill
  /// the queue.
  func queue<Request, Response>(
    for exchange: Exchange<Request, Response>
  ) -> RequestQueue<Request> {
    let id = exchange.id
    let (queue, isNew) = entry(id, "channel \(id) is already used for something else") {
      RequestQueue<Request>()
    } finish: {
      $0.inbox.finish()
    }
    if isNew { forEachHub { $0.open(queue, exchange) } }
    return queue
  }

  /// Answers the requests of an exchange one after another.
  func respond<Request, Response>(
    to exchange: Exchange<Request, Response>, _ respond: (Peer, Request) async throws -> Response
  ) async {
    let inbox = queue(for: exchange).inbox
    while let entry = await inbox.next() {
      var message = ExchangeMessage(.failed, entry.number)
      if let response = try? await respond(entry.peer, entry.request),
        let body = try? exchange.encoded(response: response)
      {
        message = ExchangeMessage(.response, entry.number, body)
      }
      // A peer that has disconnected in the meantime needs no response.
      do throws(SendError) {
        try await entry.peer.send(message, on: exchange.channel)
      } catch {
        guard case .tooLarge = error else { continue }
        let failed = ExchangeMessage(.failed, entry.number)
        try? await entry.peer.send(failed, on: exchange.channel)
      }
    }
  }
}
