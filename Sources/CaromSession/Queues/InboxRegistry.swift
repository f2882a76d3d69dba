import CaromCore
import CaromProtocol
import CaromTransport
import Synchronization

/// Where readers of any thread take from, at any time: the queues of channels and the desks of
/// exchanges, of one session, or of all that share a port.
final class InboxRegistry: Sendable {
  private struct State: Sendable {
    /// What is read, by channel.
    var entries: [UInt8: any Sendable] = [:]
    var finishers: [@Sendable () -> Void] = []
    var hubs: [SessionHub] = []
    var hasEnded = false
  }

  private let state = Mutex(State())

  /// Who fills it, before anything is read.
  func setHubs(_ hubs: [SessionHub]) { state.withLock { $0.hubs = hubs } }

  /// Nothing comes any more. Who reads takes what is there; nothing else keeps it, since it names
  /// peers, and those their hubs, which have this shelf.
  func end() {
    let finishers = state.withLock { state in
      state.hasEnded = true
      state.hubs = []
      state.entries = [:]
      defer { state.finishers = [] }
      return state.finishers
    }
    for finish in finishers { finish() }
  }

  /// Tells everybody who fills it, on their loops.
  private func tellHubs(_ body: @escaping @Sendable (isolated SessionHub) -> Void) {
    for hub in state.withLock({ $0.hubs }) { hub.loop.post { hub.assumeIsolated { body($0) } } }
  }

  /// What stands on it under a channel, made if nothing does.
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
      state.finishers.append { finish(entry) }
      return (entry, true)
    }
  }
}

// MARK: - Channels
extension InboxRegistry {
  /// The queue of a channel's messages, which is filled from the first call on.
  func inbox<Message>(for channel: MessageChannel<Message>) -> Inbox<Received<Message>> {
    let id = channel.id
    let (inbox, isNew) = entry(id, "channel \(id) is read as another type of message") {
      self.makeInbox(for: channel)
    } finish: {
      $0.finish()
    }
    if isNew { tellHubs { $0.read(id, Self.reader(of: inbox)) } }
    return inbox
  }

  private func makeInbox<Message>(for channel: MessageChannel<Message>) -> Inbox<Received<Message>>
  {
    let id = channel.id
    let overflow: Inbox<Received<Message>>.Overflow =
      switch channel.delivery {
      case .reliableOrdered, .reliableUnordered: .pause
      case .unreliable: .dropOldest
      case .reliableSequenced, .unreliableSequenced: .replace { $0.peer == $1.peer }
      }
    return Inbox(
      limit: SessionHub.unreadLimit, byteLimit: SessionHub.unreadByteLimit, overflow: overflow
    ) { [weak self] in
      self?.tellHubs { $0.resume(id) }
    }
  }

  private static func reader<Message: PacketCodable>(
    of inbox: Inbox<Received<Message>>
  ) -> SessionHub.Reader {
    { peer, bytes in
      guard let message = try? Message(decoding: bytes) else { return .malformed }
      let received = Received(peer: peer, message: message)
      return inbox.push(received, bytes: bytes.count) ? .taken : .takenAndFull
    }
  }
}

// MARK: - Exchanges
extension InboxRegistry {
  /// Where the questions of an exchange wait, which are taken from the first call on.
  func desk<Question, Answer>(for exchange: Exchange<Question, Answer>) -> RequestQueue<Question> {
    let id = exchange.id
    let (desk, isNew) = entry(id, "channel \(id) is used for something else") {
      RequestQueue<Question>()
    } finish: {
      $0.inbox.finish()
    }
    if isNew { tellHubs { $0.open(desk, exchange) } }
    return desk
  }

  /// Answers the questions of an exchange, one after the other.
  func respond<Question, Answer>(
    to exchange: Exchange<Question, Answer>, _ answer: (Peer, Question) async throws -> Answer
  ) async {
    let inbox = desk(for: exchange).inbox
    while let asked = await inbox.next() {
      var message = ExchangeMessage(.failed, asked.number)
      if let answer = try? await answer(asked.peer, asked.question) {
        message = ExchangeMessage(.answer, asked.number, answer.encoded)
      }
      // Whoever has left needs no answer.
      try? await asked.peer.send(message, on: exchange.channel)
    }
  }
}
